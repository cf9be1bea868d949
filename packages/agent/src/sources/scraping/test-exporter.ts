import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A recorded body of dcgm-exporter, or of the exporter with the given folder. */
export function fixture(name: string, exporter = 'dcgm-exporter'): string {
  return readFileSync(new URL(`../${exporter}/fixtures/${name}.txt`, import.meta.url), 'utf8')
}

/** An exporter whose answers a test controls. */
export interface ServedExporter {
  readonly address: string
  /** How the exporter answers; tests replace it. */
  answer: RequestListener
  /** Requests so far. */
  requests: number
  close(): void
}

/**
 * A body of dcgm-exporter whose energy counters grow with each scrape. An exporter with constant values counts as
 * frozen.
 */
export function livingBody(body: string): string {
  const energy = /^(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION\{.*\}) .*$/gm
  return body.replace(energy, `$1 ${Math.round(performance.now() * 1000)}`)
}

/** A {@link livingBody} of a node that runs the app llama, with its own pod and GPUs. */
export function nodeBody(host: string, pod: string): string {
  const own = fixture('kubernetes')
    .replaceAll('llama-7d9c-x2x4p', pod)
    .replaceAll('gpu-node-a', host)
    .replaceAll('GPU-', `GPU-${host}-`)
    .replaceAll('trainer-0', `trainer-${host}`)
  return livingBody(own)
}

/** Answers with a body, with the headers of dcgm-exporter. */
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
