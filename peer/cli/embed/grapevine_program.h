#ifndef GRAPEVINE_PROGRAM_H
#define GRAPEVINE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
A program that computes its own gradients as a peer of a fleet: what libgrapevine.so exports, and
what it is bound by from any language. C, ABI 1.

    gv_open     which fleet, which peer
    gv_info     who that is; what its algorithm wants of the program
    gv_rows     which samples are its own
    gv_attach   where the parameters lie; from here on it listens
    gv_begin    where the others are; from here on it trains
    gv_turn     again and again: ends the program's turn, does the peer's work, gives the next turn
    gv_verb     in between: what all peers do together, such as a sum
    gv_push, gv_pull, gv_wait   in between: from one peer to a neighbour
    gv_finish   says goodbye
    gv_close

Texts are UTF-8 and end with a zero byte. What a caller hands over is read before the call returns
and stays the caller's, but for the memory of the tensors (gv_attach, gv_point). No call throws,
ends the process, installs a signal handler, writes to descriptors 0, 1 or 2 (but for gv_log_to
standard error, see gv_open) or changes the floating point mode of its thread. Threads of the
library block every signal.

Threads: the thread of gv_open is the peer's own, and all calls are for that one, but for gv_say,
gv_fork, gv_error and gv_turn_ended, which are for any. Another thread gets GV_E_THREAD.
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

/* What calls return. A negative one failed, and gv_error says why: one line, then perhaps
   lines that begin with "help:". */
enum {
  GV_OK = 0,
  GV_MORE = 1,       /* gv_finish, gv_verb, gv_wait: the time is over before the work; call again */
  GV_STOPPED = 2,    /* gv_verb, gv_wait: the fleet has stopped, and there is no outcome */
  GV_E_USE = -1,     /* an argument, a JSON text or the order of calls is wrong */
  GV_E_FLEET = -2,   /* the fleet file is wrong, or is not for programs */
  GV_E_TENSORS = -3, /* a tensor cannot travel: its type, its layout, its memory */
  GV_E_DISAGREES = -4, /* tensors, gradients or the fleet of another peer are not as agreed */
  GV_E_THREAD = -5,    /* a call from another thread than the peer's own */
  GV_E_FORKED = -6,    /* a call in a child process of the peer's */
  GV_E_LOST = -7,      /* neighbours do not come, or too few peers live for the fleet to go on */
  GV_E_ROOM = -8,      /* what is to be written is longer than its room */
  GV_E_FAILED = -9     /* anything else: the disk, the port, the memory, a checkpoint, a key */
};

/* What the program is to do next: what gv_turn returns. */
enum {
  GV_TURN_NONE = 0,              /* nothing yet: the time is over */
  GV_TURN_GRADIENT = 1,          /* a gradient at x, of one minibatch; leaves x as it is */
  GV_TURN_STEP = 2,              /* the optimizer's step by the gradient, which may have changed */
  GV_TURN_GRADIENT_AND_STEP = 3, /* both, with nothing between them */
  GV_TURN_EVALUATE = 4,          /* looks at x with its test set, and tells test_loss, accuracy */
  GV_TURN_SAVE = 5,              /* gives its state (gv_state), for a checkpoint */
  GV_TURN_OVER = 6               /* the fleet has stopped: no turn ever again, x is final */
};

typedef struct gv_peer gv_peer;

/*
One tensor of the model, in host memory. It must be dense: its elements fill `data` without a gap
and without meeting twice, in any order of the dimensions; they travel in the order of the memory.
*/
typedef struct gv_tensor {
  const char* name;       /* 1 to 1000 bytes; no two tensors have the same */
  const char* type;       /* "float32"; all others are refused by their names */
  uint32_t dims;          /* 0 to 16; 0: one number */
  const int64_t* shape;   /* dims numbers, >= 0 */
  const int64_t* strides; /* dims numbers, in elements; NULL: the last dimension is contiguous */
  void* data;             /* aligned to 4 bytes; NULL only where there are no elements */
} gv_tensor;

/* Bits of gv_told.has. */
enum {
  GV_HAS_LOSS = 1,
  GV_HAS_RATE = 2,
  GV_HAS_SAMPLES = 4,
  GV_HAS_TEST_LOSS = 8,
  GV_HAS_ACCURACY = 16
};

/* What the program says at the end of a turn. What it leaves out stays as it was told last. */
typedef struct gv_told {
  uint32_t size;    /* sizeof(gv_told) */
  uint32_t has;     /* which of the following are said */
  double loss;      /* mean over the minibatch of this turn's gradient; may be NaN */
  double rate;      /* of the optimizer's next step, >= 0; where gv_info says "rate": true */
  uint64_t samples; /* in the minibatch of this turn's gradient; usually the "batch" of gv_info */
  double test_loss; /* of x; of GV_TURN_EVALUATE */
  double accuracy;  /* of x, 0 to 1; of GV_TURN_EVALUATE */
} gv_told;

/* GV_ABI of the library that was loaded. */
GV_API int gv_abi(void);

/*
Which peer of which fleet. `json`: an object with any of these members (each may be null, and no
others are taken), or NULL, "" or "{}". Of a program that `grapevine` started they count for
nothing where they name a fleet and no id: whoever launches says which peer it is.
  "fleet"   path of the fleet file
  "text"    in its place: the text of one
  "sets"    ["train.local_steps=4", ...], as --set of the command line
  "id"      0 .. peers - 1; without it srun, mpirun and indexed Kubernetes jobs say it
  "listen"  "127.0.0.1:0" or "[::1]:0", where it listens; port 0: any free one; "[::]:0": at all
            addresses, of IPv4 and IPv6. Without it: the address of its
            host in the fleet file, else 127.0.0.1 and any free port
  "folder"  takes its checkpoints, its ledger and its record, and where no launcher hears them its
            reports, for `grapevine collect` (of RUN, where this is RUN/peers/003); without it there
            are none
  "keys"    folder with its key, peer-N.pem; without it security.keys of the file
  "rejoin"  true: goes on from its newest checkpoint in the folder, or else from a neighbour's model
  "from"    goes on from its checkpoint of this round
  "clock"   seconds that the fleet's training clock shows as it begins; usually 0
  "start"   path of a .safetensors file with x_0; without it x_0 is what the tensors hold
  "wait"    seconds that it waits for its neighbours before training begins; usually 120
  "meet"    a folder in which peers without a launcher find each other, as `grapevine peer --meet`
  "at"      in its place: where each is found, "node{id}:27000", as `grapevine peer --at`
  "task"    "peer" (usual), "ask" or "measure", see gv_turn
  "control" true: a launcher speaks on descriptor 4, hears on 5 and takes vectors on 3
  "log"     "stderr" (usual) or "none": where lines such as "peer 3 is away" go
Without "fleet" and "text" the environment decides, in this order:
  GRAPEVINE_PEER   such an object, whose "format" is "grapevine.peer/1": `grapevine peer` and the
                   launcher make it. GRAPEVINE_TASK, where it is set, is its "task".
  GRAPEVINE_FLEET  the path of the fleet file
  neither          a fleet of one, which trains alone until gv_finish
and what `json` says besides goes before the environment. On success *peer is a new peer, which
gv_close frees; else it is NULL and gv_error(NULL) says why, in the same thread. A process that was
started by a launcher opens from the environment once.
*/
GV_API int gv_open(const char* json, gv_peer** peer);

/*
Writes an object to `json`, with its zero byte; GV_E_ROOM where `room` bytes are too few: 64 KiB are
enough for 400 neighbours. Members:
  "abi": 1, "version": "0.3.0",
  "task": "peer" | "ask" | "measure" | "alone" (a fleet of one without a file),
  "control": whether a launcher started it,
  "fleet": its name, "file": path or "", "digest": 32 hex digits,
  "id", "peers": those that train; "processes": with servers,
  "local_id", "local_peers": place among those that train on its host, and how many do,
  "host", "device": "cpu" | "cuda:1" | "auto", "threads",
  "batch": samples of a minibatch, "seed": of the fleet, "peer_seed": of this peer, both < 2^53,
  "algorithm", "order": the row,
  "turns": ["gradient", "step"] | ["gradient_and_step"] | ["gradient"]: those of a local step,
  "gradients": "kept" (never looked at) | "read" | "written": what becomes of what gv_point gives;
               not "kept": gv_point is needed in each turn of a gradient,
  "rate": whether gv_told must have it in each turn of a gradient,
  "step_is_servers": true: the program's optimizer must not step, the fleet file's does at servers,
  "servers_step": "kind", "lr", "momentum", "schedule" ... of the optimizer by which servers step
  along the gradients; null without such servers,
  "local_steps": of a round, "rounds": the last one or null, "epochs": stop.epochs or null,
  "evaluate": whether turns of evaluation may come,
  "neighbors": [{"peer": 1, "weight": 0.25}], "self_weight": of this round's W; 0 without a W,
  "partition": "iid" | "dirichlet" | ...: gv_rows needs labels unless it is iid or quantity,
  "round": rounds that are done, "rejoined": true where it went on from something,
  "restored": bytes of the program's state that wait in gv_state, or null,
  "stopping": true where this or a later turn is the last: the fleet is to stop,
and from gv_attach on
  "port": where it listens, "parameters": floats of x, "start": 32 hex digits of x_0: peers that
  begin alike have the same, "model": 32 hex digits of names, shapes and strides,
  "save_to": a path in a GV_TURN_SAVE that asks for the whole model ("whole" of gv_attach), or null.
*/
GV_API int gv_info(const gv_peer* peer, char* json, size_t room);

/*
This peer's share of n samples, as data.partition of the fleet file says: rows, ascending, of
0 .. n - 1; no two peers share one. `labels`: n classes of 0 .. 255, or NULL where "partition" needs
none.
`rows` has room for *count; NULL only counts. *count: how many they are. The same n and labels give
every peer the same division. n < 2^32.
*/
GV_API int gv_rows(gv_peer* peer, const int32_t* labels, size_t n, uint32_t* rows, size_t* count);

/*
The model: 1 to 2^20 tensors, the same names and shapes in the same order in each peer. Their memory
must stay where it is, readable and writable, until gv_turn has returned GV_TURN_OVER or gv_finish
GV_OK, or until gv_point says where else it is. The library reads and writes it only while the
peer's thread is in gv_attach, gv_turn or gv_finish. Where "start" of gv_open names values, or a
checkpoint is gone on from, they are in the tensors when the call returns. `json`, NULL for {}:
  "evaluates"  whether GV_TURN_EVALUATE can be answered; false (usual): none comes
  "saves"      whether GV_TURN_SAVE can be answered; false (usual): none comes
  "whole"      whether it can write its whole model to a file: in a GV_TURN_SAVE whose "save_to" of
               gv_info is a path, which comes with the task "ask" alone, it does; false (usual)
  "arithmetic" "lent" (usual): the peer's work is done by the thread in gv_turn;
               "own": by one of the library, for tensors that are a copy of a device's: then the
               memory is the program's only in its turns, and gv_turn_ended may end them
  "samples"    of this peer's share, "optimizer": its name, "versions": {"torch": "2.15.0"}: what
               task "ask" tells the launcher beside the tensors
Returns the port at which it listens (1 .. 65535; GV_OK where it does not: a task), or a negative
code. After an error another gv_attach may be tried.
*/
GV_API int gv_attach(gv_peer* peer, const gv_tensor* tensors, size_t n, const char* json);

/*
Training begins: the library's own thread connects with the neighbours and waits for them while the
program waits in gv_turn. `addresses_json`: [{"peer": 0, "host": "127.0.0.1", "port": 27000}, ...]
of all peers, or NULL: those of the fleet file's hosts; a launched peer, which hears them, and one
alone take NULL. Called a second time with addresses: neighbours that were started again are there.
*/
GV_API int gv_begin(gv_peer* peer, const char* addresses_json);

/*
Ends the turn that it gave, if `done` is there; then lends this thread to the peer until there is a
turn, and returns that (GV_TURN_...), or a negative code: after GV_E_USE, GV_E_THREAD and
GV_E_FORKED the turn given goes on, and after any other no turn comes any more. GV_TURN_NONE: there
was none within `timeout_ms`; negative: waits without end. `done` NULL: the turn given goes on, and
is returned again. Without a turn given `done` only tells: before the first turn, say, the rate.

A loop that trains, whatever the row:
    told = {rate}
    for (;;)
      switch (turn = gv_turn(peer, &told, 100))
        GRADIENT           loss.backward(); told = {loss, rate, samples}
        STEP               optimizer.step(); told = {}
        GRADIENT_AND_STEP  both; told = {loss, rate, samples}
        EVALUATE           told = {test_loss, accuracy}
        SAVE               gv_state(peer, 1, ...); told = {}
        OVER, negative     leave

Task "ask": the program was started once to say what it is. gv_attach tells the launcher of the
tensors, and each GV_TURN_EVALUATE is about the model that then lies in them; GV_TURN_OVER: no more.
Task "measure": so many turns of the row as the launcher wants, with no neighbours; then
GV_TURN_OVER, and the launcher has the seconds of a step.
*/
GV_API int gv_turn(gv_peer* peer, const gv_told* done, int timeout_ms);

/* Of gv_point. */
enum { GV_POINT_PARAMETERS = 0, GV_POINT_GRADIENTS = 1 };

/*
Where memory lies: n pointers, one for each tensor of gv_attach, in its order, each to as many
floats in the same layout. GV_POINT_PARAMETERS: x has moved, and lies there from now on; the values
there are x. GV_POINT_GRADIENTS: the gradient of the turn at hand, which is read, and where
"gradients" is "written" changed, until the next turn of a gradient; data NULL: there is none, and g
is zero.
In a turn, or before gv_begin.
*/
GV_API int gv_point(gv_peer* peer, int what, void* const* data, size_t n);

/*
The program's own state: optimizer, schedules, random numbers, its place in the data; bytes that the
library never looks into, at most 16 GiB.
give 1: in GV_TURN_SAVE: *bytes bytes at `data` go into the checkpoint, copied.
give 0: after gv_attach: what was restored is copied to `data`, and is gone from the library; *bytes
is the room, then the length. data NULL: *bytes is the length only. Nothing restored: *bytes is 0.
*/
GV_API int gv_state(gv_peer* peer, int give, void* data, size_t* bytes);

/*
What the program has to say; any thread. Members, each of which may be left out:
  "log"      {"name": number, ...}: kept with the round in the folder, program.jsonl, a line a call
  "figures"  {"name": number, ...}: of the evaluation at hand, beside loss and accuracy; likewise
  "text"     a line for the peer's log
  "stop"     true: this peer leaves after the round; gv_turn gives GV_TURN_OVER in time
*/
GV_API int gv_say(gv_peer* peer, const char* json);

/* Of gv_call. */
enum {
  GV_VERB_SUM = 0,             /* of all peers' data, the same bits at each */
  GV_VERB_MEAN = 1,            /* the sum, divided by how many they are; not of GV_TYPE_INT64 */
  GV_VERB_BROADCAST = 2,       /* the root's data; of no bytes: a barrier */
  GV_VERB_NEIGHBOR_AVERAGE = 3 /* sum_j W_ij of the neighbours' data and its own; floats only */
};
enum { GV_TYPE_BYTES = 0, GV_TYPE_FLOAT32 = 1, GV_TYPE_FLOAT64 = 2, GV_TYPE_INT64 = 3 };

typedef struct gv_call {
  uint32_t size;    /* sizeof(gv_call) */
  uint32_t verb;    /* GV_VERB_...; gv_push and gv_pull do not read it */
  uint32_t type;    /* GV_TYPE_...; bytes: only of a broadcast, a push and a pull */
  uint32_t root;    /* of a broadcast: whose data; gv_push: to whom; gv_pull: from whom; else 0 */
  const char* name; /* NULL, or what it is about: peers that name it otherwise disagree */
  uint32_t lends;   /* 1: x lies in the memory of the tensors, and the thread does the peer's work
                       meanwhile; 0: the peer's work waits for gv_turn, as in any turn */
} gv_call;

/*
What the peers that train do together, beside the method and without a turn: all of them make the
same calls in the same order. `data`: `bytes` bytes, read when the first call begins it, and the
outcome when one returns GV_OK. GV_MORE: not within `timeout_ms` (negative: without end); call again
with the same arguments. Floats are added up in double, in one order along a tree of the fleet's
links, and each peer gets the root's bits. Meanwhile the peer's neighbours get the answers that
they wait for, where "lends" is 1: x may then be read, and written by methods that answer beside
their turns (ad-psgd).
After gv_begin, in a turn or before the first one.
GV_E_LOST: a peer has died, has left, or was started again: there are no verbs without it.
GV_E_DISAGREES: another peer made another call. Either way the same call fails at each peer that has
not got its outcome. GV_STOPPED: a peer has left after the last round, or this one has.
*/
GV_API int gv_verb(gv_peer* peer, const gv_call* call, void* data, size_t bytes, int timeout_ms);

/*
From one peer to a neighbour, beside the method and without a turn: the nth push of peer i to peer j
is for the nth pull of j from i, whichever comes first. Both return at once, and *handle is what
gv_wait waits for: the push when the neighbour has asked for all of it, the pull when it is here.
`data`: `bytes` bytes, copied. Nothing travels before it is pulled, and at most 1024 may be under
way. Peers without a link with each other are GV_E_USE. After gv_begin.
*/
GV_API int gv_push(
    gv_peer* peer, const gv_call* call, const void* data, size_t bytes, uint64_t* handle);
GV_API int gv_pull(gv_peer* peer, const gv_call* call, size_t bytes, uint64_t* handle);

/*
Waits for a push (`data` NULL, `bytes` 0) or a pull (`bytes` as gv_pull was told), whose bytes are
in `data` when it returns GV_OK; then, and where it fails, the handle is no more. GV_MORE: not
within `timeout_ms` (negative: without end); call again. "lends" of gv_call counts as in gv_verb.
GV_E_LOST: the other peer has died, has left, or was started again. GV_E_DISAGREES: the other end
has another type, length or name; it fails at both. GV_STOPPED: as of gv_verb.
*/
GV_API int gv_wait(gv_peer* peer, uint64_t handle, void* data, size_t bytes, int timeout_ms);

/* Of gv_fork: what is about to be done or has been done. */
enum { GV_FORK_BEFORE = 0, GV_FORK_PARENT = 1, GV_FORK_CHILD = 2 };

/*
For a program that forks without exec while it is a peer (workers that load data): BEFORE stops the
library's threads where they hold nothing; PARENT lets them go on; CHILD, in the child, closes every
descriptor of the peer there, so that it does not outlive its parent on the wire. In the child each
later call gives GV_E_FORKED, and gv_close frees nothing.
*/
GV_API int gv_fork(gv_peer* peer, int phase);

/*
Leaves in order: the exchange that is open is settled, the goodbye said, the connections closed. A
turn at hand ends; g is zero from now on. Lends this thread until that is done, at most `timeout_ms`
(negative: without end), and then returns GV_OK, or GV_MORE: call again. Also where gv_turn has
given GV_TURN_OVER. A peer that never began has nothing to say. Afterwards x is final and the
library touches no tensor.
*/
GV_API int gv_finish(gv_peer* peer, int timeout_ms);

/* Why the last call that failed did so, in this thread; "" where none has. `peer` may be NULL: of
   gv_open. Valid until the next call in this thread. */
GV_API const char* gv_error(const gv_peer* peer);

/* Ends and frees the peer; NULL does nothing. Without gv_finish it ends as a process that dies:
   neighbours see its connections break. It touches no tensor. */
GV_API void gv_close(gv_peer* peer);

typedef struct gv_simulation gv_simulation;

/*
A fleet of programs in virtual time: all of them live in this process, each on a thread of its own,
and train with the bits of real peers. Of all threads one at a time has a turn, which the simulator
gives, so that results repeat. `json`: "fleet" or "text", "sets" and "log" as of gv_open, and
  "step"    seconds that a gradient with its step takes a peer of speed 1, on the virtual clock;
            without it what task "measure" has measured, and else 0
On success *simulation is to be closed; else it is NULL and gv_error(NULL) says why. These calls are
for any thread.
*/
GV_API int gv_simulate(const char* json, gv_simulation** simulation);

/*
Opens a program of it in the calling thread, in the place of gv_open: {"id": 0 .. peers - 1}, or one
of {"task": "ask"}, which evaluates the mean of all models, and {"task": "measure"}, which is timed
alone. What is attached first, but for "measure", is the fleet's model and x_0: each later
gv_attach must name the same tensors, and finds x_0 in them. Training begins when all peers
wait for their first turn, and GV_TURN_OVER comes when all of it is over. There are no addresses, no
GV_TURN_SAVE and no record; gv_verb, gv_push and gv_pull come at the beginning of a turn's time.
gv_finish returns GV_OK when all of it is over; gv_close without it ends it for all.
*/
GV_API int gv_simulated(gv_simulation* simulation, const char* json, gv_peer** peer);

/* Waits until it is over (GV_OK), or so long (GV_MORE). stop 1: each peer stops after its round. */
GV_API int gv_simulation_wait(gv_simulation* simulation, int stop, int timeout_ms);

/*
Writes an object to `json` as gv_info does: "peers": those that train, "step": seconds, or null,
"over", "records": the lines of metrics.jsonl until now, and "summary": as of `grapevine simulate`,
or null.
*/
GV_API int gv_simulation_info(gv_simulation* simulation, char* json, size_t room);

/* Ends it, if it is not over, and frees it; its peers are still to be closed. NULL does nothing. */
GV_API void gv_simulation_close(gv_simulation* simulation);

/* gv_turn's end of the turn at hand by itself, with nothing told, from any thread: a host function
   for streams (cudaLaunchHostFunc(stream, gv_turn_ended, peer)), for "arithmetic": "own". */
GV_API void gv_turn_ended(void* peer);

#ifdef __cplusplus
}
#endif

#endif
