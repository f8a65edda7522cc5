// A bot in C++17 without libraries: it plays the first legal move of any game that lists them.
//
//   c++ -std=c++17 -O2 -o bot docs/examples/bot.cpp
//   kibitz play number-merge number-merge/random --stdio -- ./bot
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

// Return the length of the JSON value that `text` begins with.
static std::size_t value_length(std::string_view text)
{
    int depth = 0;
    bool quoted = false;

    for (std::size_t place = 0; place < text.size(); place++) {
        const char c = text[place];
        if (quoted) {
            if (c == '\\')
                place++;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
            return place;
        } else {
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        }
    }
    return text.size();
}

// Return the value of a key of the object in `line`. Lines have no spaces between their parts.
static std::optional<std::string_view> value_of(std::string_view line, std::string_view key)
{
    while (line.size() > 1 && line[1] == '"') { // behind the brace or the comma
        const std::size_t end = line.find('"', 2);
        if (end == std::string_view::npos || end + 2 > line.size())
            return std::nullopt;
        const std::string_view value = line.substr(end + 2);
        const std::size_t length = value_length(value);
        if (line.substr(2, end - 2) == key)
            return value.substr(0, length);
        line = value.substr(length);
    }
    return std::nullopt;
}

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        if (value_of(line, "type") != "\"turn\"")
            continue;
        const std::string_view legal = value_of(line, "legal").value_or("");
        if (legal.substr(0, 2) != "[{") {
            std::cerr << "this game lists no legal moves\n";
            return 1;
        }
        const std::string_view moves = legal.substr(1);
        std::cout << moves.substr(0, value_length(moves)) << std::endl; // endl flushes
    }
}
