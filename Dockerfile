# One image for the server, its bots and the command-line client.
FROM python:3.12-slim

WORKDIR /opt/kibitz
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY protocol protocol
COPY games games
COPY search search
COPY training training
COPY server server
COPY bots bots
COPY arena arena
COPY clients clients
COPY kibitz kibitz
COPY docs/games docs/games
COPY docs/examples docs/examples
RUN pip install --no-cache-dir -c constraints.txt hatchling \
 && pip install --no-cache-dir -c constraints.txt --no-build-isolation '.[all,postgres]'

# Compile the machine code of the house bots in advance.
ENV KIBITZ_CACHE=/var/cache/kibitz
RUN useradd --create-home kibitz \
 && install -d -o kibitz -g kibitz /data /house /var/cache/kibitz
USER kibitz
RUN kibitz bot warm

COPY docker/open-house.sh /usr/local/bin/open-house
COPY docker/open-house.yaml /etc/kibitz/open-house.yaml
EXPOSE 8765
VOLUME ["/data"]
CMD ["kibitz", "serve", "--host", "0.0.0.0", "--port", "8765", "--db", "/data/kibitz.db"]
