import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A body in the form of dcgm-exporter, or of another exporter by its folder. */
export function fixture(name: string, exporter = 'dcgm-exporter'): string {
  return readFileSync(new URL(`../${exporter}/fixtures/${name}.txt`, import.meta.url), 'utf8')
}

/** An exporter that answers what a test says. */
export interface ServedExporter {
  readonly address: string
  /** How it answers from now on. */
  answer: RequestListener
  /** Requests so far. */
  requests: number
  close(): void
}

/** Answers with a body as dcgm-exporter does. */
export function withBody(body: string | Buffer): RequestListener {
  return (_, response) => void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
}

/** Starts an exporter on a free port of loopback. */
export async function serveExporter(body: string): Promise<ServedExporter> {
  const server = createServer((request, response) => {
    exporter.requests++
    exporter.answer(request, response)
  })
  const exporter = {
    address: '',
    answer: withBody(body),
    requests: 0,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  exporter.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
  return exporter
}
