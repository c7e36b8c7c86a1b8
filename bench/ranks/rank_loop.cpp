// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_loop.hpp"

#include <memory>

#include "commands/commands.hpp"
#include "session.hpp"

namespace lanewise::bench {
namespace {

void serve(RankLink& link, Session& session) {
  std::uint32_t last = 0;
  while (true) {
    const auto message = nlohmann::json::parse(link.next_request(last));
    const auto operation = message.at("operation").get<std::string>();
    if (operation == "stop") break;
    link.answer(session.run(operation, message.at("request")).dump());
  }
  link.begin("ending");
  link.barrier();
}

}  // namespace

int serve_rank(BlockLayout& block, RankPlace place) {
  auto link = std::make_unique<RankLink>(block, place);
  auto session = std::make_unique<Session>(*link);
  try {
    serve(*link, *session);
    return 0;
  } catch (const std::exception& error) {
    link->fail(error.what());
    static_cast<void>(session.release());
    static_cast<void>(link.release());
    return exit_failure;
  }
}

}  // namespace lanewise::bench
