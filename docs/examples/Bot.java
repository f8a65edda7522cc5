// A bot in Java without packages: it plays the first legal move of any game that lists them.
//
//   javac -d . docs/examples/Bot.java
//   kibitz play number-merge number-merge/random --stdio -- java Bot
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

public class Bot {
    /** Returns where the JSON value that begins at {@code start} ends. */
    static int endOfValue(String text, int start) {
        int depth = 0;
        boolean quoted = false;
        for (int place = start; place < text.length(); place++) {
            char c = text.charAt(place);
            if (quoted) {
                if (c == '\\') place++;
                quoted = c != '"';
            } else if (c == '"') {
                quoted = true;
            } else if (depth == 0 && ",]}".indexOf(c) >= 0) {
                return place;
            } else if ("{[".indexOf(c) >= 0) {
                depth++;
            } else if ("}]".indexOf(c) >= 0) {
                depth--;
            }
        }
        return text.length();
    }

    /** Returns the value of a key of the object in a line, "" if it has none. Lines have no spaces. */
    static String valueOf(String line, String key) {
        int place = 1; // behind the brace
        while (place < line.length() && line.charAt(place) == '"') {
            int value = line.indexOf('"', place + 1) + 2;
            int end = endOfValue(line, value);
            if (line.substring(place + 1, value - 2).equals(key)) return line.substring(value, end);
            place = end + 1;
        }
        return "";
    }

    public static void main(String[] words) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!valueOf(line, "type").equals("\"turn\"")) continue;
            String legal = valueOf(line, "legal");
            if (!legal.startsWith("[{")) {
                System.err.println("this game lists no legal moves");
                System.exit(1);
            }
            System.out.println(legal.substring(1, endOfValue(legal, 1))); // println flushes
        }
    }
}
