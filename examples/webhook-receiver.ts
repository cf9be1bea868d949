// A receiver of webhooks that verifies both signatures of Sonde, with nothing but Node. Run it with:
//   SECRETS=whsec_… SIGNING_KEYS=… PORT=8080 npx node --conditions=source examples/webhook-receiver.ts
// Either variable may be missing. During a rotation each may have several keys, with commas between them.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message that is older, or from the future, may be a replay. */
const TOLERANCE_S = 300
const BODY_BYTES_MAX = 64 << 10

const listOf = (text = ''): string[] => text.split(',').filter((key) => key !== '')
const secrets = listOf(process.env.SECRETS).map((key) => Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
// The key is the decoded bytes, not the text.
const signingKeys = listOf(process.env.SIGNING_KEYS).map((key) => Buffer.from(key, 'hex'))
if (secrets.length + signingKeys.length === 0) throw new Error('give SECRETS or SIGNING_KEYS')

/** Ids of the messages of the last minutes: a message that comes again was handled already. */
const seen = new Map<string, number>()

/** Whether one of the signatures was made with one of the keys. */
function isSigned(keys: readonly Buffer[], content: string, signatures: readonly Buffer[]): boolean {
  return keys.some((key) => {
    const expected = createHmac('sha256', key).update(content).digest()
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected))
  })
}

function isRecent(timestamp: string): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_S
}

function isOfStandardWebhooks(headers: IncomingHttpHeaders, body: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  const signatures = String(signature)
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
  const decoded = signatures.map((one) => Buffer.from(one.slice(3), 'base64'))
  return isRecent(String(timestamp)) && isSigned(secrets, `${id}.${timestamp}.${body}`, decoded)
}

function isOfConvox(headers: IncomingHttpHeaders, body: string): boolean {
  const parts = String(headers['convox-signature'])
    .split(',')
    .map((part) => part.split('='))
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? ''
  const decoded = parts.flatMap(([name, hex = '']) => (name === 'v1' ? [Buffer.from(hex, 'hex')] : []))
  return isRecent(timestamp) && isSigned(signingKeys, `${timestamp}.${body}`, decoded)
}

/** The status of the answer. */
function take(headers: IncomingHttpHeaders, body: string): number {
  // Every kind of signature that there are keys for must be right.
  if (secrets.length > 0 && !isOfStandardWebhooks(headers, body)) return 401
  if (signingKeys.length > 0 && !isOfConvox(headers, body)) return 401
  const id = String(headers['webhook-id'])
  for (const [old, atMs] of seen) if (Date.now() - atMs > 2 * TOLERANCE_S * 1000) seen.delete(old)
  if (!seen.has(id)) {
    seen.set(id, Date.now())
    const { type, timestamp, data } = JSON.parse(body) as {
      type: string
      timestamp: string
      data: { message?: string }
    }
    console.log(`${timestamp} ${type} ${data.message ?? ''}`)
  }
  return 204
}

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > BODY_BYTES_MAX) break
  }
  // Verify the bytes as they came: JSON that is parsed and written again may differ.
  const status = bytes > BODY_BYTES_MAX ? 413 : take(request.headers, Buffer.concat(pieces).toString())
  response.writeHead(status).end()
})

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
