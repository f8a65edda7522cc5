import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Requests the given pages, then sends hello over a WebSocket; prints the responses. */
public class Ask {
    public static void main(String[] words) throws Exception {
        HttpClient client = HttpClient.newHttpClient(); // offers HTTP/2 with every plain request
        for (int place = 1; place < words.length; place++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + words[0] + words[place])).build();
            System.out.println(words[place] + " " + client.send(request, BodyHandlers.ofString()).statusCode());
        }
        CompletableFuture<String> first = new CompletableFuture<>();
        WebSocket socket = client.newWebSocketBuilder()
            .buildAsync(URI.create("ws://" + words[0] + "/ws"), new WebSocket.Listener() {
                private final StringBuilder text = new StringBuilder();

                @Override
                public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
                    text.append(part);
                    if (last) {
                        first.complete(text.toString());
                    }
                    from.request(1);
                    return null;
                }

                @Override
                public void onError(WebSocket from, Throwable error) {
                    first.completeExceptionally(error);
                }
            })
            .get(30, TimeUnit.SECONDS);
        String hello = "{\"type\":\"hello\",\"id\":1,\"versions\":[1],\"name\":\"duke\",\"kind\":\"bot\"}";
        socket.sendText(hello, true).get(30, TimeUnit.SECONDS);
        System.out.println(first.get(30, TimeUnit.SECONDS));
        socket.abort();
    }
}
