# An image of the server, without root. Build it from the repository: docker build -t finexpert .
# What was run and what was not stands in docs/serve.md.
FROM python:3.13-slim AS build
RUN pip install --no-cache-dir 'uv>=0.9'
WORKDIR /src
COPY . .
RUN uv venv /opt/finexpert \
 && uv export --quiet --locked --no-dev --no-emit-project \
      --extra serve --extra postgres --extra mysql --extra library --extra excel -o /tmp/requirements.txt \
 && VIRTUAL_ENV=/opt/finexpert uv pip install --no-cache -r /tmp/requirements.txt \
 && VIRTUAL_ENV=/opt/finexpert uv pip install --no-cache --no-deps .

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home --home-dir /home/finexpert finexpert \
 && install --directory --owner 10001 --group 10001 --mode 700 /data
COPY --from=build /opt/finexpert /opt/finexpert
ENV PATH=/opt/finexpert/bin:$PATH FINEXPERT_HOME=/data FINEXPERT_SERVE_HOST=0.0.0.0 PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/finexpert
VOLUME /data
EXPOSE 8400
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD \
  ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8400/healthz', timeout=4)"]
# SIGTERM: no more questions are taken, those under way are waited for.
STOPSIGNAL SIGTERM
CMD ["finexpert", "serve"]
