// Reads the numbers of a node and of an app through the HTTP API, once and live, by a typed client.
// Run it beside `sonde up` with: npx node --conditions=source examples/metrics-client.ts http://127.0.0.1:9394 APP
// Off loopback the server wants a token of `sonde tokens add --role viewer`, here in the variable SONDE_TOKEN.

import { createApiClient, SondeError } from '@sonde/sdk/client'

const [baseUrl = 'http://127.0.0.1:9394', app = ''] = process.argv.slice(2)
const { SONDE_TOKEN: token = '' } = process.env
const client = createApiClient({ baseUrl, token, timeoutMs: 5000 })
const rxBytes = { metric: 'netdev_rx_bytes_total', function: 'rate', by: [] } as const

try {
  const { node, hardware } = await client.node()
  console.log(`${node}: ${hardware.gpus || 'no GPU'}, ${hardware.nics || 'no NIC'}`)

  const toMs = Date.now()
  const answer = await client.query({ fromMs: toMs - 60_000, toMs, stepMs: 5000, queries: [rxBytes] })
  const [sum] = answer.results[0]?.series ?? []
  console.log(`${answer.times.length} points; a gap is null: ${sum?.values.join(' ') ?? 'no series'}`)

  // What asks for too much is refused before it is sent, with the words of the server.
  if (app !== '') {
    const { services } = await client.app(app, { largest: true })
    const names = services.map(({ name }) => name)
    const { times } = await client.appMetrics({ app, services: names, fields: ['gpu-util'], periodS: 60 })
    console.log(`${app}: ${names.join(', ')}; ${times.length} minutes`)
  }

  let steps = 0
  // A lost connection is opened again at the last step, so none is missed.
  for await (const { event, data } of client.stream({ queries: [rxBytes] }, { signal: AbortSignal.timeout(60_000) })) {
    if (event === 'points') console.log(`until ${new Date(data.toMs).toISOString()}: ${data.times.length} points`)
    if (event === 'points' && ++steps === 2) break
  }
} catch (error) {
  if (!(error instanceof SondeError)) throw error
  console.log(`${error.code}: ${error.message}`)
}
