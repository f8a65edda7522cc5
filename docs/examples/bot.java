// A bot in Java 17 without libraries: it plays the first legal move of any game that lists them.
//
//   kibitz play line-nim line-nim/random --stdio -- java docs/examples/bot.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

class Bot {
    /** Put your ideas here: view is the position, as `kibitz game show NAME --json` describes it. */
    static String choose(String view, List<String> legal) {
        return legal.get(0);
    }

    public static void main(String[] arguments) throws IOException {
        var input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
        var lines = new BufferedReader(input);
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!field(line, "type").equals("\"turn\"")) {
                continue;
            }
            var legal = elements(field(line, "legal"));
            if (legal.isEmpty() || !legal.get(0).startsWith("{")) {
                System.err.println("this game lists no legal moves");
                System.exit(1);
            }
            System.out.println(choose(field(line, "view"), legal));
            System.out.flush();
        }
    }

    /** Returns the value of a key in a JSON object, or an empty text. Lines have no spaces. */
    static String field(String object, String key) {
        var start = "\"" + key + "\":";
        for (var pair : elements(object)) {
            if (pair.startsWith(start)) {
                return pair.substring(start.length());
            }
        }
        return "";
    }

    /** Returns the elements of a JSON array as text, or the members of an object as "key":value. */
    static List<String> elements(String text) {
        var found = new ArrayList<String>();
        for (int at = 1, end; at + 1 < text.length(); at = end + 1) {
            end = end(text, at);
            found.add(text.substring(at, end));
        }
        return found;
    }

    /** Returns the end of the JSON value at `at`: the next comma or bracket on the same level. */
    static int end(String text, int at) {
        boolean quoted = false;
        for (int depth = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (quoted && c == '\\') {
                at++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && "{[".indexOf(c) >= 0) {
                depth++;
            } else if (!quoted && "}],".indexOf(c) >= 0) {
                if (depth == 0) {
                    return at;
                }
                depth -= c == ',' ? 0 : 1;
            }
        }
        return text.length();
    }
}
