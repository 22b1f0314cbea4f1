#include "peer/launch/discovery/mdns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "graph/spec/parameters.h"

namespace gv {
namespace {

// packet := header question* record*                                (RFC 1035, 4.1)
// header := id:16 flags:16 questions:16 answers:16 authorities:16 additionals:16
// question := name type:16 class:16
// record := name type:16 class:16 ttl:32 length:16 data

constexpr std::size_t header_bytes = 12;
constexpr std::size_t most_name_bytes = 255;
constexpr std::size_t most_label_bytes = 63;
constexpr std::size_t most_pointers = 16;  // in one name
constexpr std::size_t most_entries = 256;  // questions and records of one packet
constexpr std::size_t most_echoed = 4;     // questions that concern one lobby
constexpr std::size_t most_notices = 16;   // lobbies of one packet

constexpr std::uint16_t type_a = 1, type_ptr = 12, type_txt = 16, type_aaaa = 28, type_srv = 33,
                        type_any = 255;
constexpr std::uint16_t class_in = 1, class_any = 255;
constexpr std::uint16_t top_bit = 0x8000;  // cache-flush in a class, response in the flags
constexpr std::uint16_t authoritative = 0x0400;
constexpr std::uint16_t opcode_and_rcode = 0x780F;  // not 0: to be ignored (RFC 6762, 18.3, 18.11)

constexpr std::uint32_t service_ttl = 4500, host_ttl = 120;  // seconds; RFC 6762, 10
constexpr std::uint32_t most_unicast_ttl = 10;               // seconds; RFC 6762, 6.7

/// A name as in a packet without compression: labels with their lengths, then the root's 0.
using Name = std::string;

Name name_of(std::initializer_list<std::string_view> labels) {
  Name name;
  for (const std::string_view label : labels) {
    const std::string_view most = label.substr(0, most_label_bytes);
    name += static_cast<char>(most.size());
    name += most;
  }
  return name + '\0';
}

const Name& service_name() {
  static const Name name = name_of({"_grapevine", "_tcp", "local"});
  return name;
}

const Name& types_name() {
  static const Name name = name_of({"_services", "_dns-sd", "_udp", "local"});
  return name;
}

Name instance_name(const LobbyNotice& notice) {
  return name_of({notice.host, "_grapevine", "_tcp", "local"});
}

Name host_name(const LobbyNotice& notice) {
  return name_of({notice.host, "local"});
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Ignores the case of ASCII letters (RFC 6762, 16); no length of a label is a letter.
bool same_name(const Name& a, const Name& b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

void put16(std::string& to, unsigned value) {
  to += static_cast<char>(value >> 8U & 0xFFU);
  to += static_cast<char>(value & 0xFFU);
}

void put32(std::string& to, std::uint32_t value) {
  put16(to, value >> 16U);
  put16(to, value & 0xFFFFU);
}

MdnsPacket packet_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct Record {
  Name name;
  std::uint16_t type = 0;
  bool unique = false;  ///< no other host has records of this name and type
  std::uint32_t ttl = 0;
  std::string data;
};

std::string bytes_of_address(int family, const std::string& address) {
  std::string bytes(family == AF_INET ? 4 : 16, '\0');
  return ::inet_pton(family, address.c_str(), bytes.data()) == 1 ? bytes : "";
}

Record service_record(const LobbyNotice& ours) {
  return {service_name(), type_ptr, false, service_ttl, instance_name(ours)};
}

Record srv_record(const LobbyNotice& ours) {
  std::string data;
  put16(data, 0);  // priority
  put16(data, 0);  // weight
  put16(data, ours.port);
  return {instance_name(ours), type_srv, true, host_ttl, data + host_name(ours)};
}

Record txt_record(const LobbyNotice& ours) {
  std::string data;
  for (const std::string& pair : {std::string("txtvers=1"), fmt::format("lobby={}", ours.lobby),
                                  fmt::format("version={}", ours.version)}) {
    data += static_cast<char>(pair.size());
    data += pair;
  }
  return {instance_name(ours), type_txt, true, service_ttl, data};
}

std::vector<Record> address_records(const LobbyNotice& ours) {
  std::vector<Record> records;
  for (const std::string& address : ours.addresses) {
    const std::string v4 = bytes_of_address(AF_INET, address);
    const std::string v6 = bytes_of_address(AF_INET6, address);
    if (records.size() == most_lobby_addresses) break;
    if (v4.empty() && v6.empty()) continue;
    records.push_back({host_name(ours), v4.empty() ? type_aaaa : type_a, true, host_ttl, v4 + v6});
  }
  return records;
}

std::string text_of(const Record& record, AnswerForm form) {
  const bool unicast = form == AnswerForm::unicast;
  std::string text = record.name;
  put16(text, record.type);
  put16(text, record.unique && !unicast ? class_in | top_bit : class_in);
  put32(text, unicast ? std::min(record.ttl, most_unicast_ttl) : record.ttl);
  put16(text, static_cast<unsigned>(record.data.size()));
  return text + record.data;
}

MdnsPacket answer_of(const LobbyQuestion& question,
                     const std::vector<Record>& answers,
                     const std::vector<Record>& additional,
                     AnswerForm form) {
  const bool unicast = form == AnswerForm::unicast;
  std::string text;
  put16(text, unicast ? question.id : 0);  // RFC 6762, 18.1
  put16(text, top_bit | authoritative);
  put16(text, unicast ? static_cast<unsigned>(question.n_echoed) : 0);
  put16(text, static_cast<unsigned>(answers.size()));
  put16(text, 0);
  put16(text, static_cast<unsigned>(additional.size()));
  if (unicast)
    text.append(reinterpret_cast<const char*>(question.echo.data()), question.echo.size());
  for (const Record& record : answers) text += text_of(record, form);
  for (const Record& record : additional) text += text_of(record, form);
  return packet_of(text);
}

/// Reads numbers and names in order. After the first bad one all others read as 0 or empty.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::byte> packet) : packet_(packet) {
    bad_ = packet.size() > most_mdns_bytes;
  }

  bool bad() const { return bad_; }
  std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }

  std::uint16_t read16() {
    const unsigned high = byte_at(at_);
    const unsigned low = byte_at(at_ + 1);
    at_ += 2;
    return static_cast<std::uint16_t>(bad_ ? 0 : high << 8U | low);
  }
  std::uint32_t read32() {
    const std::uint32_t high = read16();
    return high << 16U | read16();
  }
  std::string read_bytes(std::size_t count) {
    bad_ = bad_ || count > packet_.size() || at_ > packet_.size() - count;
    if (bad_) return "";
    const char* const begin = reinterpret_cast<const char*>(packet_.data()) + at_;
    at_ += count;
    return {begin, count};
  }

  /// Follows compression pointers (RFC 1035, 4.1.4). Each must lead to a place before the labels
  /// that it ends, so none can loop.
  Name read_name() {
    Name name;
    std::size_t begin = at_, at = at_, pointers = 0;
    while (!bad_) {
      const unsigned length = byte_at(at);
      if (length > most_label_bytes) {
        const std::size_t target = (length & 0x3FU) << 8U | byte_at(at + 1);
        if (pointers == 0) at_ = at + 2;
        bad_ = bad_ || length < 0xC0 || target < header_bytes || target >= begin ||
               ++pointers > most_pointers;
        begin = at = target;
        continue;
      }
      bad_ = bad_ || name.size() + length + 1 > most_name_bytes || packet_.size() - at <= length;
      if (bad_) break;
      name.append(reinterpret_cast<const char*>(packet_.data()) + at, length + 1);
      at += length + 1;
      if (length > 0) continue;
      if (pointers == 0) at_ = at;
      return name;
    }
    return {};
  }

 private:
  unsigned byte_at(std::size_t at) {
    bad_ = bad_ || at >= packet_.size();
    return bad_ ? 0 : std::to_integer<unsigned>(packet_[at]);
  }

  std::span<const std::byte> packet_;
  std::size_t at_ = 0;
  bool bad_ = false;
};

struct Header {
  std::uint16_t id = 0, flags = 0;
  std::size_t questions = 0, answers = 0, others = 0;
};

/// Returns nothing if the header is bad, or promises too many entries.
std::optional<Header> read_header(PacketReader& in) {
  Header header{.id = in.read16(), .flags = in.read16()};
  header.questions = in.read16();
  header.answers = in.read16();
  header.others = in.read16();
  header.others += in.read16();
  if (in.bad() || (header.flags & opcode_and_rcode) != 0) return {};
  if (header.questions + header.answers + header.others > most_entries) return {};
  return header;
}

/// A record as it arrived: its data is a name if its type is PTR or SRV.
struct Heard {
  Name name;
  std::uint16_t type = 0;
  std::uint32_t ttl = 0;
  std::uint16_t port = 0;  ///< SRV
  std::string data;
};

Heard read_record(PacketReader& in, bool& of_internet) {
  Heard record;
  record.name = in.read_name();
  record.type = in.read16();
  of_internet = (in.read16() & ~top_bit) == class_in;
  record.ttl = in.read32();
  const std::size_t length = in.read16();
  const std::size_t begin = in.at();
  std::string data = in.read_bytes(length);  // checks the length
  if (in.bad() || (record.type != type_ptr && record.type != type_srv)) {
    record.data = std::move(data);
    return record;
  }
  in.move_to(begin);
  if (record.type == type_srv) {
    in.read32();  // priority, weight
    record.port = in.read16();
  }
  record.data = in.read_name();
  if (in.at() != begin + length) record.data.clear();
  in.move_to(begin + length);
  return record;
}

/// Returns the records of the internet's class, and none if one is bad.
std::vector<Heard> read_records(PacketReader& in, std::size_t count) {
  std::vector<Heard> records;
  for (std::size_t k = 0; k < count && !in.bad(); ++k) {
    bool of_internet = false;
    Heard record = read_record(in, of_internet);
    if (of_internet) records.push_back(std::move(record));
  }
  if (in.bad()) records.clear();
  return records;
}

/// Returns whether the question asks for a record of this lobby.
bool add_question(LobbyQuestion& asked,
                  const LobbyNotice& ours,
                  const Name& name,
                  std::uint16_t type) {
  const auto wants = [&](std::uint16_t wanted) { return type == wanted || type == type_any; };
  LobbyQuestion more;
  if (same_name(name, types_name())) {
    more.service_types = wants(type_ptr);
  } else if (same_name(name, service_name())) {
    more.service = wants(type_ptr);
  } else if (same_name(name, instance_name(ours))) {
    more.srv = wants(type_srv);
    more.txt = wants(type_txt);
  } else if (same_name(name, host_name(ours))) {
    more.v4 = wants(type_a);
    more.v6 = wants(type_aaaa);
  }
  asked.add(more);
  return more.any();
}

/// Returns nothing if the text is no number of at most `most`.
std::optional<unsigned> number_in(std::string_view text, unsigned most) {
  const auto value = as_number<unsigned>(text);
  return value && *value <= most ? value : std::nullopt;
}

/// Returns the value of a key: that of its first pair (RFC 6763, 6.4).
std::string_view value_in(std::string_view txt, std::string_view key) {
  while (!txt.empty()) {
    const std::size_t length = static_cast<unsigned char>(txt.front());
    const std::string_view pair = txt.substr(1, length);
    if (pair.size() > key.size() && pair[key.size()] == '=' &&
        std::ranges::equal(pair.substr(0, key.size()), key, {}, lower))
      return pair.substr(key.size() + 1);
    txt.remove_prefix(std::min(txt.size(), length + 1));
  }
  return {};
}

/// Returns the label of a name LABEL.local, in lower case; nothing for other names.
std::optional<std::string> label_of(const Name& name) {
  const std::size_t length = name.empty() ? 0 : static_cast<unsigned char>(name.front());
  std::string label = name.substr(std::min<std::size_t>(name.size(), 1), length);
  std::ranges::transform(label, label.begin(), lower);
  const bool plain = label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == Name::npos;
  if (label.empty() || !plain || !same_name(name, name_of({label, "local"}))) return {};
  return label;
}

/// Returns "" if the record holds no address of a machine.
std::string address_in(const Heard& record) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (record.type == type_a && record.data.size() == sizeof(in_addr)) {
    const auto first = static_cast<unsigned char>(record.data.front());
    if (first == 0 || first >= 224) return "";  // unspecified, groups, broadcast
    return ::inet_ntop(AF_INET, record.data.data(), text.data(), text.size());
  }
  if (record.type != type_aaaa || record.data.size() != sizeof(in6_addr)) return "";
  in6_addr address{};
  std::memcpy(&address, record.data.data(), sizeof address);
  if (IN6_IS_ADDR_MULTICAST(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) ||
      IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address))
    return "";
  return ::inet_ntop(AF_INET6, &address, text.data(), text.size());
}

const Heard* find_record(const std::vector<Heard>& all, const Name& name, std::uint16_t type) {
  const auto found = std::ranges::find_if(all, [&](const Heard& each) {
    return each.type == type && each.ttl > 0 && same_name(each.name, name);
  });
  return found == all.end() ? nullptr : &*found;
}

/// Returns nothing if the records do not describe the instance completely.
std::optional<LobbyNotice> notice_of(const std::vector<Heard>& all, const Name& instance) {
  constexpr unsigned most_version = 1'000'000;
  const Heard* const srv = find_record(all, instance, type_srv);
  const Heard* const txt = find_record(all, instance, type_txt);
  if (srv == nullptr || txt == nullptr || srv->port == 0) return {};
  const std::optional<std::string> host = label_of(srv->data);
  const std::optional<unsigned> lobby = number_in(value_in(txt->data, "lobby"), most_lobby);
  const std::optional<unsigned> version = number_in(value_in(txt->data, "version"), most_version);
  if (!host || !lobby || !version) return {};
  LobbyNotice notice{.lobby = *lobby, .port = srv->port, .host = *host, .addresses = {}};
  notice.version = static_cast<int>(*version);
  for (const Heard& each : all) {
    if (each.ttl == 0 || notice.addresses.size() == most_lobby_addresses) continue;
    if (!same_name(each.name, srv->data)) continue;
    const std::string address = address_in(each);
    if (!address.empty() && std::ranges::count(notice.addresses, address) == 0)
      notice.addresses.push_back(address);
  }
  return notice;
}

}  // namespace

std::string lobby_host(unsigned lobby, std::uint32_t drawn) {
  return fmt::format("grapevine-{}-{:08x}", lobby, drawn);
}

LobbyQuestion LobbyQuestion::everything() {
  LobbyQuestion all;
  all.service = all.srv = all.txt = all.v4 = all.v6 = true;
  return all;
}

void LobbyQuestion::add(const LobbyQuestion& other) {
  service_types = service_types || other.service_types;
  service = service || other.service;
  srv = srv || other.srv;
  txt = txt || other.txt;
  v4 = v4 || other.v4;
  v6 = v6 || other.v6;
}

MdnsPacket lobby_question(std::uint16_t id) {
  std::string text;
  for (const unsigned word : {unsigned{id}, 0U, 1U, 0U, 0U, 0U}) put16(text, word);
  text += service_name();
  put16(text, type_ptr);
  put16(text, class_in);
  return packet_of(text);
}

std::optional<LobbyQuestion> parse_lobby_question(std::span<const std::byte> packet,
                                                  const LobbyNotice& ours) {
  PacketReader in(packet);
  const std::optional<Header> header = read_header(in);
  if (!header || (header->flags & top_bit) != 0) return {};
  LobbyQuestion asked;
  asked.id = header->id;
  std::string echo;
  for (std::size_t k = 0; k < header->questions && !in.bad(); ++k) {
    const Name name = in.read_name();
    const std::uint16_t type = in.read16();
    const unsigned one_class = in.read16() & ~unsigned{top_bit};
    if (in.bad() || (one_class != class_in && one_class != class_any)) continue;
    if (!add_question(asked, ours, name, type) || asked.n_echoed == most_echoed) continue;
    ++asked.n_echoed;
    echo += name;
    put16(echo, type);
    put16(echo, one_class);
  }
  for (const Heard& known : read_records(in, header->answers))
    if (known.type == type_ptr && known.ttl >= service_ttl / 2 &&
        same_name(known.name, service_name()) && same_name(known.data, instance_name(ours)))
      asked.service = false;
  read_records(in, header->others);
  asked.echo = packet_of(echo);
  if (in.bad() || !asked.any()) return {};
  return asked;
}

MdnsPacket lobby_answer(const LobbyQuestion& question, const LobbyNotice& ours, AnswerForm form) {
  std::vector<Record> answers, additional;
  if (question.service_types)
    answers.push_back({types_name(), type_ptr, false, service_ttl, service_name()});
  if (question.service) answers.push_back(service_record(ours));
  (question.srv ? answers : additional).push_back(srv_record(ours));
  (question.txt ? answers : additional).push_back(txt_record(ours));
  for (Record& record : address_records(ours)) {
    const bool asked = record.type == type_a ? question.v4 : question.v6;
    (asked ? answers : additional).push_back(std::move(record));
  }
  if (answers.empty()) return {};
  if (answers.front().name == types_name() && answers.size() == 1) additional.clear();
  return answer_of(question, answers, additional, form);
}

MdnsPacket lobby_goodbye(const LobbyNotice& ours) {
  std::vector<Record> all = address_records(ours);
  all.insert(all.begin(), {service_record(ours), srv_record(ours), txt_record(ours)});
  for (Record& record : all) record.ttl = 0;
  return answer_of({}, all, {}, AnswerForm::multicast);
}

std::vector<LobbyNotice> parse_lobby_answer(std::span<const std::byte> packet,
                                            std::optional<std::uint16_t> id) {
  PacketReader in(packet);
  const std::optional<Header> header = read_header(in);
  if (!header || (header->flags & top_bit) == 0 || (id && header->id != *id)) return {};
  for (std::size_t k = 0; k < header->questions; ++k) {
    in.read_name();
    in.read32();  // type, class
  }
  const std::vector<Heard> all = read_records(in, header->answers + header->others);
  std::vector<LobbyNotice> notices;
  for (const Heard& each : all) {
    if (each.type != type_ptr || each.ttl == 0 || !same_name(each.name, service_name())) continue;
    std::optional<LobbyNotice> notice = notice_of(all, each.data);
    if (!notice || notices.size() == most_notices) continue;
    if (std::ranges::count(notices, notice->host, &LobbyNotice::host) == 0)
      notices.push_back(std::move(*notice));
  }
  return notices;
}

}  // namespace gv
