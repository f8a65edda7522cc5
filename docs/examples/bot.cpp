// A bot in C++17 without libraries: it plays the first legal move of any game that lists them.
//
//   c++ -std=c++17 -O2 -o bot docs/examples/bot.cpp
//   kibitz play line-nim line-nim/random --stdio -- ./bot
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

// Returns the end of the JSON value at `at`: the next comma or bracket on the same level.
std::size_t end_of(std::string_view text, std::size_t at) {
    bool quoted = false;
    for (int depth = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') ++at;
            else if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']' || c == ',') {
            if (depth == 0) return at;
            if (c != ',') --depth;
        }
    }
    return at;
}

// Returns the elements of a JSON array as text, or the members of an object as `"key":value`.
std::vector<std::string_view> elements(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t at = 1; at + 1 < text.size();) {
        const std::size_t end = end_of(text, at);
        found.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

// Returns the value of a key in a JSON object, or an empty text. Lines have no spaces.
std::string_view field(std::string_view object, const std::string& key) {
    const std::string start = '"' + key + "\":";
    for (const std::string_view pair : elements(object))
        if (pair.substr(0, start.size()) == start) return pair.substr(start.size());
    return {};
}

// Put your ideas here: `view` is the position, as `kibitz game show NAME --json` describes it.
std::string_view choose(std::string_view /*view*/, const std::vector<std::string_view>& legal) {
    return legal.front();
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        if (field(line, "type") != "\"turn\"") continue;
        const auto legal = elements(field(line, "legal"));
        if (legal.empty() || legal[0][0] != '{') {
            std::cerr << "this game lists no legal moves\n";
            return 1;
        }
        std::cout << choose(field(line, "view"), legal) << std::endl;  // endl flushes
    }
}
