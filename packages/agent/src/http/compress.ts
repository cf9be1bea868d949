import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { acceptsGzip } from '@sonde/sdk/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'

const gzipWhole = promisify(gzip)
/** Below this the head of the answer is most of it. */
const LEAST_BYTES = 1024
/** Numbers shrink to a fifth at the first level; the higher ones take three times as long for a tenth more. */
const LEVEL = 1

/**
 * Compresses an answer where the asker takes gzip, away from the main loop. Answers that differ by encoding say so in
 * `Vary`.
 */
export async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  reply.header('vary', 'Accept, Accept-Encoding')
  if (reply.statusCode !== 200 || request.method === 'HEAD' || !acceptsGzip(request.headers['accept-encoding']))
    return payload
  if (payload instanceof Readable) {
    const packed = createGzip({ level: LEVEL })
    // Where one of the two fails both are destroyed, and the asker sees an answer that breaks off.
    pipeline(payload, packed, () => undefined)
    return encoded(reply, packed)
  }
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return payload
  return payload.length < LEAST_BYTES ? payload : encoded(reply, await gzipWhole(payload, { level: LEVEL }))
}

function encoded<T>(reply: FastifyReply, payload: T): T {
  reply.removeHeader('content-length').header('content-encoding', 'gzip')
  return payload
}
