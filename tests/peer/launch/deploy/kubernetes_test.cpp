#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "peer/launch/deploy/deploy.h"
#include "peer/wire/seal/peer_keys.h"
#include "tests/peer/launch/deploy/yaml_documents.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/text_of.h"

namespace gv {
namespace {

constexpr const char* pod = "spec.template.spec.";

class Deploy : public Launch {
 protected:
  Ended deployed(std::vector<std::string> more) const {
    std::vector<std::string> words{"deploy", file_, "--image", "reg.example/grapevine:0.2"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// The workload is the last document.
  std::vector<Value> documents(const std::vector<std::string>& more) const {
    const Ended ended = deployed(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return yaml_documents(ended.output());
  }
  std::string refusal(const std::vector<std::string>& more) const {
    const Ended ended = deployed(more);
    EXPECT_EQ(ended.code, 2) << ended.output();
    EXPECT_EQ(ended.out.size(), 0U) << "half a manifest would be applied";
    return ended.err;
  }

  std::string file_ = fleet(3, 40, "x-note: ü\n");
};

TEST_F(Deploy, AJobHasAPodForEachPeerAndANameForEachPod) {
  const std::vector<Value> all = documents({});
  ASSERT_EQ(all.size(), 3U);
  const Value &service = all[0], &config = all[1], &job = all[2];
  EXPECT_EQ(text_at(service, "kind"), "Service");
  EXPECT_EQ(text_at(service, "spec.clusterIP"), "None");
  EXPECT_EQ(text_at(service, "spec.publishNotReadyAddresses"), "true");
  EXPECT_EQ(at(config, "data").find("fleet.yaml")->value.text, text_of(file_));
  EXPECT_EQ(text_at(job, "kind"), "Job");
  EXPECT_EQ(text_at(job, "spec.completionMode"), "Indexed");
  EXPECT_EQ(text_at(job, "spec.completions"), "3");
  EXPECT_EQ(text_at(job, "spec.parallelism"), "3");
  EXPECT_EQ(text_at(job, "spec.backoffLimitPerIndex"), "6");
  EXPECT_EQ(text_at(job, std::string(pod) + "subdomain"), text_at(service, "metadata.name"))
      << "a pod's name is NAME-INDEX.SUBDOMAIN, where the Service bears the subdomain's name";
  EXPECT_EQ(text_at(job, std::string(pod) + "terminationGracePeriodSeconds"), "30");
  const std::vector<std::string> words = words_at(job, std::string(pod) + "containers.0.command");
  EXPECT_EQ(words[3], "--at");
  EXPECT_EQ(words[4], "test-{id}.test:27000");
  EXPECT_EQ(text_at(job, std::string(pod) + "containers.0.ports.0.containerPort"), "27000");
}

TEST_F(Deploy, ClustersGetWhatTheyKnow) {
  const Value old = documents({"--kubernetes", "1.28"}).back();
  EXPECT_EQ(at(old, "spec").find("backoffLimitPerIndex"), nullptr);
  EXPECT_EQ(text_at(old, "spec.backoffLimit"), "18");
  EXPECT_EQ(text_at(old, std::string(pod) + "restartPolicy"), "OnFailure")
      << "the container starts again in its pod, and finds there that it has lived";
  const Value now = documents({"--kubernetes", "1.29"}).back();
  EXPECT_EQ(at(now, "spec").find("backoffLimit"), nullptr);
  EXPECT_EQ(text_at(now, "spec.podReplacementPolicy"), "Failed");
  EXPECT_EQ(text_at(now, std::string(pod) + "restartPolicy"), "Never");
  EXPECT_EQ(text_at(now, std::string(pod) + "containers.0.env.0.name"), "GRAPEVINE_RESTARTS");
}

TEST_F(Deploy, APodSeesItsOwnKeyAlone) {
  for (const auto& [kind, variable, folder] :
       {std::tuple{"job", "$(JOB_COMPLETION_INDEX)", "2/peer-2.pem"},
        std::tuple{"statefulset", "$(POD_NAME)", "test-2/peer-2.pem"}}) {
    const Value work = documents({"--kind", kind}).back();
    EXPECT_EQ(text_at(work, std::string(pod) + "initContainers.0.volumeMounts.0.subPathExpr"),
              variable);
    const std::vector<Value>& volumes = at(work, std::string(pod) + "volumes").items;
    const auto secret = std::ranges::find_if(
        volumes, [](const Value& volume) { return text_at(volume, "name") == "secret"; });
    ASSERT_NE(secret, volumes.end());
    EXPECT_EQ(text_at(*secret, "secret.items.2.path"), folder);
    for (const Value& mount : at(work, std::string(pod) + "containers.0.volumeMounts").items)
      EXPECT_NE(text_at(mount, "name"), "secret");
  }
  const Ended open = deployed({"--set", "security=plaintext"});
  EXPECT_EQ(open.output().find("secret"), std::string::npos);
  EXPECT_NE(open.err.find("not encrypted"), std::string::npos) << open.err;
}

TEST_F(Deploy, AStatefulSetKeepsVolumesAndStays) {
  const Value set = documents({"--kind", "statefulset", "--storage", "2Gi"}).back();
  EXPECT_EQ(text_at(set, "spec.podManagementPolicy"), "Parallel") << "peers wait for each other";
  EXPECT_EQ(text_at(set, "spec.serviceName"), "test");
  EXPECT_EQ(text_at(set, "spec.volumeClaimTemplates.0.metadata.name"), "runs");
  const auto words = words_at(set, std::string(pod) + "containers.0.command");
  EXPECT_EQ(std::ranges::count(words, "--stay"), 1) << "what ends is started again";
}

TEST_F(Deploy, AJobSetBringsItsOwnService) {
  const std::vector<Value> all = documents({"--kind", "jobset"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text_at(all[1], "spec.network.enableDNSHostnames"), "true");
  const std::string spec = "spec.replicatedJobs.0.template.spec.";
  EXPECT_EQ(text_at(all[1], spec + "completions"), "3");
  EXPECT_EQ(words_at(all[1], spec + "template.spec.containers.0.command")[4],
            "test-peer-0-{id}.test:27000");
}

TEST_F(Deploy, GraphFilesTravelAndNothingOfAValueIsExpanded) {
  const std::string npy("\x93NUMPY\x01\x00\xFF", 9);
  std::ofstream(path("ring.edges")) << "0 1\n1 2\n2 0\n";
  const Value config =
      documents({"--set", "topology=file:ring.edges", "--set", "x-odd=$(HOME) \"a\" 'b'"})[1];
  EXPECT_EQ(at(config, "data").find("topology.kind.edges")->value.text, "0 1\n1 2\n2 0\n");
  const Value job =
      documents({"--set", "topology=file:ring.edges", "--set", "x-odd=$(HOME) \"a\" 'b'"}).back();
  const auto words = words_at(job, std::string(pod) + "containers.0.command");
  EXPECT_EQ(std::ranges::count(words, "x-odd=$$(HOME) \"a\" 'b'"), 1);
  EXPECT_EQ(std::ranges::count(words, "topology.kind=file:copied/topology.kind.edges"), 1);
  const KubernetesFleet binary{
      .name = "a", .image = "b", .files = {{"fleet.yaml", "version: 1\n"}, {"copied/w.npy", npy}}};
  const Value with_binary = yaml_documents(kubernetes_manifests(binary))[1];
  EXPECT_EQ(at(with_binary, "binaryData").find("w.npy")->value.text, base64(npy));
}

TEST_F(Deploy, RefusesWhatAClusterWouldRefuse) {
  EXPECT_NE(refusal({"--name", "My_fleet"}).find("help:  --name my-fleet"), std::string::npos);
  EXPECT_NE(refusal({"--kubernetes", "1.24"}).find("1.25 or newer"), std::string::npos);
  EXPECT_NE(refusal({"--kubernetes", "2.30"}).find("1.25 or newer"), std::string::npos);
  EXPECT_NE(refusal({"--memory", "2GB"}).find("quantity"), std::string::npos);
  EXPECT_NE(refusal({"--mount", "data"}).find("CLAIM:/PATH"), std::string::npos);
  EXPECT_NE(refusal({"--claim", "a/b"}).find("--claim a/b"), std::string::npos);
  EXPECT_NE(refusal({"--storage", "2Gi"}).find("--claim"), std::string::npos);
  EXPECT_NE(refusal({"--set", "topology=rign"}).find("did you mean"), std::string::npos);
  EXPECT_EQ(run({"deploy", file_}).code, 2) << "no image";
  EXPECT_EQ(run({"deploy", file_, "--image", "a b"}).code, 2);
  const KubernetesFleet large{
      .name = "a", .image = "b", .files = {{"fleet.yaml", std::string(1'100'000, '#')}}};
  EXPECT_THROW(kubernetes_manifests(large), std::invalid_argument);
}

TEST_F(Deploy, RemindsOfKeysAndOfWhereTheModelsGo) {
  const std::string said = deployed({}).err;
  EXPECT_NE(said.find("kubectl create secret generic test-keys --from-file=test-keys"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("--claim CLAIM keeps them"), std::string::npos) << said;
  EXPECT_EQ(deployed({"--claim", "results"}).err.find("--claim"), std::string::npos);
}

/// Runs the command of the pods with the folders and the number that a pod has.
TEST_F(Deploy, ThePodsCommandTrainsToTheBitsOfTheSimulator) {
  const Value job = documents({"--set", "seed=11"}).back();
  const std::string port = fmt::format("127.0.0.1:{}", 20'000 + getpid() * 4 % 10'000);
  std::vector<std::string> words;
  for (std::string word : words_at(job, std::string(pod) + "containers.0.command")) {
    if (word == "/fleet/fleet.yaml") word = file_;
    if (word == "test-{id}.test:27000") word = port;
    if (word == "output.dir=/runs/test") word = "output.dir=" + path("runs");
    if (word != "grapevine") words.push_back(word);
  }
  words.erase(std::ranges::find(words, "--keys"), std::ranges::find(words, "--keys") + 2);
  std::vector<std::unique_ptr<Program>> pods;
  for (const char* index : {"0", "1", "2"}) {
    ::setenv("JOB_COMPLETION_INDEX", index, 1);
    pods.push_back(std::make_unique<Program>(words));
  }
  ::unsetenv("JOB_COMPLETION_INDEX");
  for (const auto& each : pods) {
    const Ended end = each->wait();
    EXPECT_EQ(end.code, 0) << end.err;
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(
        std::filesystem::exists(path(fmt::format("runs/peers/{:03}/model.safetensors", i))));
}

/// The schemas are those that Kubernetes publishes, from 1.25 to 1.37. The schema of a JobSet is
/// not among them, so the test checks the Job within it.
TEST_F(Deploy, StrictSchemasTakeTheManifests) {
  const std::string python = std::getenv("GRAPEVINE_TEST_PYTHON") != nullptr
                                 ? std::getenv("GRAPEVINE_TEST_PYTHON")
                                 : "python3";
  if (std::system((python + " -c 'import kubernetes_validate' 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "kubernetes-validate (PyPI) is not installed; GRAPEVINE_TEST_PYTHON names a "
                    "Python with it";
  for (const char* kind : {"job", "statefulset", "jobset"}) {
    for (const auto& [version, first] : {std::pair{"1.25", 25}, {"1.29", 29}}) {
      const std::string written = path(fmt::format("{}-{}.yaml", kind, version));
      std::ofstream(written) << deployed({"--kind", kind, "--kubernetes", version, "--memory",
                                          "2Gi", "--gpus", "1", "--mount", "data:/srv/data"})
                                    .output();
      const Ended checked =
          Program({python, source_folder() + "/tests/peer/launch/deploy/check_manifests", written,
                   std::to_string(first)},
                  Program::as_it_stands)
              .wait();
      EXPECT_EQ(checked.code, 0) << kind << " " << checked.err;
      EXPECT_NE(checked.output().find("valid"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gv
