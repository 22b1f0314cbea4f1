#ifndef GRAPEVINE_PROGRAM_H
#define GRAPEVINE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
The C interface of libgrapevine.so, ABI 1: a program that computes its own gradients joins a fleet
as a peer. Any language that can call C can use it.

    gv_open     chooses the fleet and the peer
    gv_info     describes the peer, and what its algorithm requires of the program
    gv_rows     returns the peer's share of the samples
    gv_attach   passes the tensors of the model; the peer listens from here on
    gv_begin    passes the addresses of the other peers; training begins
    gv_turn     in a loop: ends the program's turn, does the peer's work, returns the next turn
    gv_verb     in between: a collective of all peers, such as a sum
    gv_push, gv_pull, gv_wait   in between: transfers between two neighbours
    gv_finish   leaves the fleet in order
    gv_close    frees the peer

Texts are UTF-8 and end with a zero byte. The library reads arguments before the call returns; they
stay the caller's, except the memory of the tensors (gv_attach, gv_point). No call throws, ends the
process, installs a signal handler, writes to descriptors 0, 1 or 2 (except log lines on standard
error, see "log" of gv_open) or changes the floating point mode of its thread. Threads of the
library block every signal.

Threads: the thread that called gv_open is the peer's own. Only this thread may make calls, except
gv_say, gv_fork, gv_error and gv_turn_ended, which any thread may call. From other threads the other
calls return GV_E_THREAD.
*/

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GV_API __attribute__((visibility("default")))
#else
#define GV_API
#endif

#define GV_ABI 1

/* Return values. A negative one is an error, which gv_error describes: one line, then possibly
   lines that begin with "help:". */
enum {
  GV_OK = 0,
  GV_MORE = 1,         /* gv_finish, gv_verb, gv_wait: timed out before the end; call again */
  GV_STOPPED = 2,      /* gv_verb, gv_wait: the fleet has stopped, and there is no result */
  GV_E_USE = -1,       /* an argument, a JSON text or the order of calls is wrong */
  GV_E_FLEET = -2,     /* the fleet file is wrong, or is not for programs */
  GV_E_TENSORS = -3,   /* a tensor has an unsupported type, layout or memory */
  GV_E_DISAGREES = -4, /* tensors, gradients or another peer's fleet differ from what was agreed */
  GV_E_THREAD = -5,    /* a call from another thread than the peer's own */
  GV_E_FORKED = -6,    /* a call in a child process of the peer */
  GV_E_LOST = -7,      /* neighbours do not come, or too few peers are alive to continue */
  GV_E_ROOM = -8,      /* the output is longer than its buffer */
  GV_E_FAILED = -9     /* any other failure: disk, port, memory, checkpoint, key */
};

/* The program's next task, returned by gv_turn. */
enum {
  GV_TURN_NONE = 0,              /* nothing yet: timed out */
  GV_TURN_GRADIENT = 1,          /* compute a gradient at x on one minibatch; do not change x */
  GV_TURN_STEP = 2,              /* take the optimizer's step by the gradient, maybe changed */
  GV_TURN_GRADIENT_AND_STEP = 3, /* do both, with nothing between them */
  GV_TURN_EVALUATE = 4,          /* evaluate x on the test set; report test_loss and accuracy */
  GV_TURN_SAVE = 5,              /* pass the program's state (gv_state) for a checkpoint */
  GV_TURN_OVER = 6               /* the fleet has stopped: no more turns, x is final */
};

typedef struct gv_peer gv_peer;

/*
One tensor of the model, in host memory. It must be dense: its elements fill `data` without gaps or
overlaps, in any order of the dimensions. They are sent in the order of the memory.
*/
typedef struct gv_tensor {
  const char* name;       /* 1 to 1000 bytes, unique among the tensors */
  const char* type;       /* "float32"; other types are refused */
  uint32_t dims;          /* number of dimensions, 0 to 16; 0: a single number */
  const int64_t* shape;   /* dims numbers, >= 0 */
  const int64_t* strides; /* dims numbers, in elements; NULL: the last dimension is contiguous */
  void* data;             /* aligned to 4 bytes; may be NULL only if there are no elements */
} gv_tensor;

/* Bits of gv_told.has. */
enum {
  GV_HAS_LOSS = 1,
  GV_HAS_RATE = 2,
  GV_HAS_SAMPLES = 4,
  GV_HAS_TEST_LOSS = 8,
  GV_HAS_ACCURACY = 16
};

/* The program's report at the end of a turn. A value without its bit keeps its last report. */
typedef struct gv_told {
  uint32_t size;    /* sizeof(gv_told) */
  uint32_t has;     /* bits of the values that are set */
  double loss;      /* mean over the minibatch of this turn's gradient; may be NaN */
  double rate;      /* learning rate of the next step, >= 0; needed if gv_info has "rate": true */
  uint64_t samples; /* size of this gradient's minibatch; usually "batch" of gv_info */
  double test_loss; /* test loss of x, for GV_TURN_EVALUATE */
  double accuracy;  /* test accuracy of x, 0 to 1, for GV_TURN_EVALUATE */
} gv_told;

/* Returns GV_ABI of the loaded library. */
GV_API int gv_abi(void);

/*
Opens a peer of a fleet. `json`: an object with any of these members and no others, each of which
may be null; or NULL, "" or "{}". In a program that `grapevine` has started, an object that names a
fleet but no id is ignored except for "log": the launcher chooses the peer.

  "fleet"   path of the fleet file
  "text"    text of a fleet file, instead of "fleet"
  "sets"    ["train.local_steps=4", ...], like --set of the command line
  "id"      0 .. peers - 1; by default the number from srun, mpirun or an indexed Kubernetes job
  "listen"  address to listen at: "127.0.0.1:0" or "[::1]:0"; "[::]:0" means all addresses, IPv4
            and IPv6; port 0 means any free one. By default the address of its host in the fleet
            file, else 127.0.0.1 and any free port
  "folder"  folder for checkpoints, ledger and record, and, without a launcher, for the reports
            that `grapevine collect RUN` reads if this is RUN/peers/003; by default none are kept
  "keys"    folder with the peer's key, peer-N.pem; by default security.keys of the file
  "rejoin"  true: resume from the newest checkpoint in the folder, else from a neighbour's model
  "from"    resume from the checkpoint of this round
  "clock"   the fleet's training clock at the start, in seconds; usually 0
  "start"   path of a .safetensors file with x_0; by default x_0 is in the tensors
  "wait"    maximum wait for the neighbours before training, in seconds; usually 120
  "meet"    folder in which peers without a launcher find each other, like `grapevine peer --meet`
  "at"      addresses of all peers, "node{id}:27000", instead of "meet", like `grapevine peer --at`
  "task"    "peer" (default), "ask" or "measure", see gv_turn
  "control" true: a launcher writes to descriptor 4, reads from 5 and exchanges vectors on 3
  "log"     destination of lines such as "peer 3 is away": "stderr" (default) or "none"

Without "fleet" and "text" the environment is used, in this order:
  GRAPEVINE_PEER   such an object, whose "format" is "grapevine.peer/1", written by `grapevine peer`
                   and the launcher. GRAPEVINE_TASK, if set, replaces its "task".
  GRAPEVINE_FLEET  the path of the fleet file
  neither          a fleet of one peer, which trains alone until gv_finish
The other members of `json` then override the environment. On success *peer is a new peer, which
gv_close frees. Otherwise *peer is NULL, and gv_error(NULL) returns the reason in the same thread.
A process that a launcher has started can open from the environment once.
*/
GV_API int gv_open(const char* json, gv_peer** peer);

/*
Writes a JSON object with its zero byte to `json`. Returns GV_E_ROOM if `room` bytes are too few;
64 KiB are enough for 400 neighbours. Members:

  "abi": 1, "version": "0.3.0",
  "task": "peer" | "ask" | "measure" | "alone" (a fleet of one without a file),
  "control": whether a launcher started the peer,
  "fleet": name of the fleet, "file": path or "", "digest": 32 hex digits,
  "id", "peers": number of peers that train; "processes": number with servers,
  "local_id", "local_peers": place among, and number of, the peers that train on its host,
  "host", "device": "cpu" | "cuda:1" | "auto", "threads",
  "batch": samples per minibatch, "seed": of the fleet, "peer_seed": of this peer, both < 2^53,
  "algorithm", "order": the method,
  "turns": turns of a local step: ["gradient", "step"] | ["gradient_and_step"] | ["gradient"],
  "gradients": use of the gradients of gv_point: "kept" (unused) | "read" | "written"; unless
               "kept", each turn of a gradient needs gv_point,
  "rate": whether gv_told must have the rate in each turn of a gradient,
  "step_is_servers": true if servers step, by the fleet file; the program must not,
  "servers_step": "kind", "lr", "momentum", "schedule" ... of the optimizer with which servers step
  along the gradients; null without such servers,
  "local_steps": steps per round, "rounds": last round or null, "epochs": stop.epochs or null,
  "evaluate": whether turns of evaluation may come,
  "stuck_after": seconds that an evaluation may take (faults.stuck_after); 0: no limit,
  "neighbors": [{"peer": 1, "weight": 0.25}], "self_weight": of this round's W; 0 without a W,
  "partition": "iid" | "dirichlet" | ...: gv_rows needs labels unless this is iid or quantity,
  "round": completed rounds, "rejoined": true if training was resumed,
  "restored": size in bytes of the program's restored state, see gv_state, or null,
  "stopping": true if this turn or a later one is the last, because the fleet stops,
and after gv_attach
  "port": port of the peer, "parameters": number of floats of x, "start": 32 hex digits of x_0,
  equal at peers that begin with the same values, "model": 32 hex digits of names, shapes and
  strides, "save_to": path in a GV_TURN_SAVE for the whole model ("whole" of gv_attach), or null.
*/
GV_API int gv_info(const gv_peer* peer, char* json, size_t room);

/*
Computes this peer's share of n samples (n < 2^32) by data.partition of the fleet file: ascending
rows of 0 .. n - 1, none of which any other peer has. `labels`: n classes of 0 .. 255, or NULL if
"partition" of gv_info needs none. `rows` has room for *count rows, or is NULL to only count; *count
becomes their number. The same n and labels give the same division at every peer.
*/
GV_API int gv_rows(gv_peer* peer, const int32_t* labels, size_t n, uint32_t* rows, size_t* count);

/*
Passes the model: 1 to 2^20 tensors, with the same names and shapes in the same order at each peer.
Their memory must stay in place, readable and writable, until gv_turn has returned GV_TURN_OVER or
gv_finish GV_OK, or until gv_point names other memory. The library accesses it only while the peer's
thread is in gv_attach, gv_turn or gv_finish. If "start" of gv_open gives values, or training is
resumed from a checkpoint, the tensors hold these values when the call returns. `json`, NULL for {}:

  "evaluates"  whether the program answers GV_TURN_EVALUATE; default false: no such turn comes
  "saves"      whether the program answers GV_TURN_SAVE; default false: no such turn comes
  "whole"      whether the program can write its whole model to a file, in a GV_TURN_SAVE with a
               path in "save_to" of gv_info; comes only in the task "ask"; default false
  "arithmetic" "lent" (default): the thread in gv_turn does the peer's work;
               "own": a thread of the library does, for tensors that are a copy of a device's. The
               program may then access the memory only in its turns, and may call gv_turn_ended
  "samples"    samples of this peer's share, "optimizer": its name, "versions": {"torch": "2.15.0"};
               with the tensors, what the task "ask" reports to the launcher

Returns the port on which the peer listens (1 .. 65535), GV_OK if it does not listen (other tasks
than "peer"), or a negative code. After an error gv_attach may be called again.
*/
GV_API int gv_attach(gv_peer* peer, const gv_tensor* tensors, size_t n, const char* json);

/*
Begins training: a thread of the library connects to the neighbours and waits for them while the
program waits in gv_turn. `addresses_json`: [{"peer": 0, "host": "127.0.0.1", "port": 27000}, ...]
of all peers, or NULL for those of the fleet file's hosts. A launched peer, whose launcher sends the
addresses, and a peer alone pass NULL. A later call passes new addresses of restarted neighbours.
*/
GV_API int gv_begin(gv_peer* peer, const char* addresses_json);

/*
Ends the current turn if `done` is not NULL; then lends this thread to the peer until there is a
turn, and returns that turn (GV_TURN_...) or a negative code. After GV_E_USE, GV_E_THREAD and
GV_E_FORKED the current turn continues; after other errors no more turns come. Returns GV_TURN_NONE
after `timeout_ms` without a turn; if negative, there is no limit. If `done` is NULL, the current
turn continues and is returned again. Without a current turn, `done` is only a report, for example
of the rate before the first turn. A loop that trains with any method:

    told = {rate}
    for (;;)
      switch (turn = gv_turn(peer, &told, 100))
        GRADIENT           loss.backward(); told = {loss, rate, samples}
        STEP               optimizer.step(); told = {}
        GRADIENT_AND_STEP  both; told = {loss, rate, samples}
        EVALUATE           told = {test_loss, accuracy}
        SAVE               gv_state(peer, 1, ...); told = {}
        OVER, negative     leave

Task "ask": the program was started once to describe itself. gv_attach reports the tensors to the
launcher, and each GV_TURN_EVALUATE evaluates the model that is then in the tensors, until
GV_TURN_OVER.
Task "measure": the program gets a number of turns without neighbours, then GV_TURN_OVER, and the
launcher learns the seconds per step.
*/
GV_API int gv_turn(gv_peer* peer, const gv_told* done, int timeout_ms);

/* Kinds of memory for gv_point. */
enum { GV_POINT_PARAMETERS = 0, GV_POINT_GRADIENTS = 1 };

/*
Passes the location of parameters or gradients: n pointers, one for each tensor of gv_attach in its
order, to memory of the same size and layout. GV_POINT_PARAMETERS: x has moved there, and the values
there are x. GV_POINT_GRADIENTS: the gradient of the current turn, which is read, and changed if
"gradients" of gv_info is "written", until the next turn of a gradient; if data is NULL, there is no
gradient, and g is zero. Call it in a turn, or before gv_begin.
*/
GV_API int gv_point(gv_peer* peer, int what, void* const* data, size_t n);

/*
Saves or restores the program's own state: optimizer, schedules, random numbers, place in the data.
The library does not interpret these bytes, at most 16 GiB.
give 1, in GV_TURN_SAVE: copies *bytes bytes at `data` into the checkpoint.
give 0, after gv_attach: copies the restored state to `data` and frees it in the library; *bytes is
the size of `data` before the call, and the state's length after. If data is NULL, only *bytes is
set. If nothing was restored, *bytes is 0.
*/
GV_API int gv_state(gv_peer* peer, int give, void* data, size_t* bytes);

/*
Sends messages of the program; from any thread. Members, all optional:
  "log"      {"name": number, ...}: stored with the round in program.jsonl, a line per call
  "figures"  {"name": number, ...}: more results of the current evaluation, stored likewise
  "text"     a line for the peer's log
  "stop"     true: this peer leaves after the round; gv_turn then returns GV_TURN_OVER
*/
GV_API int gv_say(gv_peer* peer, const char* json);

/* Verbs of gv_call. */
enum {
  GV_VERB_SUM = 0,             /* sum of all peers' data, with the same bits at each peer */
  GV_VERB_MEAN = 1,            /* the sum divided by the number of peers; not for GV_TYPE_INT64 */
  GV_VERB_BROADCAST = 2,       /* the root's data; with 0 bytes a barrier */
  GV_VERB_NEIGHBOR_AVERAGE = 3 /* sum_j W_ij of the neighbours' and its own data; floats only */
};

enum { GV_TYPE_BYTES = 0, GV_TYPE_FLOAT32 = 1, GV_TYPE_FLOAT64 = 2, GV_TYPE_INT64 = 3 };

typedef struct gv_call {
  uint32_t size;    /* sizeof(gv_call) */
  uint32_t verb;    /* GV_VERB_...; ignored by gv_push and gv_pull */
  uint32_t type;    /* GV_TYPE_...; bytes only for a broadcast, a push or a pull */
  uint32_t root;    /* source of a broadcast; receiver of gv_push; sender of gv_pull; else 0 */
  const char* name; /* NULL, or a name for the data; the call fails if peers use different names */
  uint32_t lends;   /* 1: x is in the memory of the tensors, and the waiting thread does the
                       peer's work; 0: the peer's work waits for gv_turn, as in any turn */
} gv_call;

/*
A collective of the peers that train, independent of the method and its turns. All peers must make
the same calls in the same order. `data`: `bytes` bytes, read when the first call begins the verb,
and replaced by the result when a call returns GV_OK. Returns GV_MORE after `timeout_ms` (if
negative, there is no limit); call again with the same arguments. Floats are added in double, in one
order along a tree of the fleet's links, and each peer gets the root's bits. If "lends" is 1, the
peer's neighbours get their answers during the wait; the library may then read x, and methods that
answer between their turns (ad-psgd) may write it. Call it after gv_begin, in a turn or before the
first one.

GV_E_LOST: a peer has died, left or restarted; verbs need all peers. GV_E_DISAGREES: another peer
made a different call. In both cases the call fails at each peer that has no result yet. GV_STOPPED:
a peer has left after the last round, or this one has.
*/
GV_API int gv_verb(gv_peer* peer, const gv_call* call, void* data, size_t bytes, int timeout_ms);

/*
A transfer to or from a neighbour, independent of the method and its turns: the nth push of peer i
to peer j is for the nth pull of j from i, whichever is called first. Both calls return at once with
a *handle for gv_wait: a push is done when the neighbour has asked for all its bytes, a pull when
they have arrived. `data`: `bytes` bytes, which are copied. Nothing is sent before the pull, and at
most 1024 transfers may be pending. Returns GV_E_USE for peers that have no link with each other.
Call them after gv_begin.
*/
GV_API int gv_push(
    gv_peer* peer, const gv_call* call, const void* data, size_t bytes, uint64_t* handle);
GV_API int gv_pull(gv_peer* peer, const gv_call* call, size_t bytes, uint64_t* handle);

/*
Waits for a push (`data` NULL, `bytes` 0) or for a pull (`bytes` as in gv_pull), whose data is in
`data` when the call returns GV_OK. GV_OK and errors end the handle. Returns GV_MORE after
`timeout_ms` (if negative, there is no limit); call again. "lends" of gv_call acts as in gv_verb.
GV_E_LOST: the other peer has died, left or restarted. GV_E_DISAGREES: the other end has another
type, length or name; the transfer fails at both. GV_STOPPED: as in gv_verb.
*/
GV_API int gv_wait(gv_peer* peer, uint64_t handle, void* data, size_t bytes, int timeout_ms);

/* Phases of gv_fork. */
enum { GV_FORK_BEFORE = 0, GV_FORK_PARENT = 1, GV_FORK_CHILD = 2 };

/*
For a program that forks without exec while it is a peer (workers that load data). BEFORE pauses the
library's threads at a point without locks; PARENT lets them continue. CHILD, in the child, closes
all descriptors of the peer there, so that its connections do not outlive the parent. Later calls in
the child return GV_E_FORKED, and gv_close frees nothing.
*/
GV_API int gv_fork(gv_peer* peer, int phase);

/*
Leaves the fleet in order: completes the open exchange, says goodbye and closes the connections.
Ends the current turn; g is zero from now on. Lends this thread to the peer until that is done, for
at most `timeout_ms` (if negative, there is no limit), and returns GV_OK, or GV_MORE: call again.
Also needed after GV_TURN_OVER. Does nothing for a peer that never began. Afterwards x is final, and
the library accesses no tensor.
*/
GV_API int gv_finish(gv_peer* peer, int timeout_ms);

/* Returns the reason of the last failed call in this thread, or "" if none has failed. `peer` may
   be NULL, for gv_open. Valid until the next call in this thread. */
GV_API const char* gv_error(const gv_peer* peer);

/* Ends and frees the peer; NULL does nothing. Without gv_finish the peer ends like a process that
   dies: neighbours see its connections break. Accesses no tensor. */
GV_API void gv_close(gv_peer* peer);

typedef struct gv_simulation gv_simulation;

/*
Simulates a fleet of programs in virtual time. All programs are in this process, each on its own
thread, and train with the same bits as real peers. The simulator gives the turn to one thread at a
time, so that results repeat. `json`: "fleet" or "text", "sets" and "log" as in gv_open, and

  "step"    seconds of a gradient with its step at a peer of speed 1, on the virtual clock; by
            default the result of the task "measure", else 0

On success *simulation is a simulation to be closed. Otherwise *simulation is NULL, and
gv_error(NULL) returns the reason. Any thread may make these calls.
*/
GV_API int gv_simulate(const char* json, gv_simulation** simulation);

/*
Opens a program of the simulation in the calling thread, instead of gv_open: {"id": 0 .. peers - 1};
{"task": "ask"}, which evaluates the mean of all models; or {"task": "measure"}, which is timed
alone. The first gv_attach, except that of "measure", sets the fleet's model and x_0; each later one
must pass the same tensors, and gets x_0 in them. Training begins when all peers wait for their
first turn, and GV_TURN_OVER comes when the whole simulation is over. There are no addresses, no
GV_TURN_SAVE and no record; gv_verb, gv_push and gv_pull happen at the start of a turn's time.
gv_finish returns GV_OK when the whole simulation is over; gv_close without it ends it for all.
*/
GV_API int gv_simulated(gv_simulation* simulation, const char* json, gv_peer** peer);

/* Waits for the end of the simulation. Returns GV_OK if it is over, GV_MORE after `timeout_ms`.
   stop 1: each peer stops after its round. */
GV_API int gv_simulation_wait(gv_simulation* simulation, int stop, int timeout_ms);

/*
Writes a JSON object to `json` as gv_info does: "peers": number of peers that train, "step": seconds
or null, "over", "records": the lines of metrics.jsonl up to now, and "summary": as printed by
`grapevine simulate`, or null.
*/
GV_API int gv_simulation_info(gv_simulation* simulation, char* json, size_t room);

/* Ends the simulation if it is not over, and frees it; its peers must still be closed. NULL does
   nothing. */
GV_API void gv_simulation_close(gv_simulation* simulation);

/* Ends the current turn like gv_turn, without a report; from any thread. A host function for
   streams (cudaLaunchHostFunc(stream, gv_turn_ended, peer)), for "arithmetic": "own". */
GV_API void gv_turn_ended(void* peer);

#ifdef __cplusplus
}
#endif

#endif
