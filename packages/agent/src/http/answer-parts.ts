import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { answerToJsonParts, type QueryAnswer, turn } from '@sonde/sdk/internal'
import type { FastifyReply } from 'fastify'
import { EVENT_END, eventStart } from './server-sent-events.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** Size of one part of an answer; a single series as JSON may be longer. Unit: characters, or bytes. */
const PART_LENGTH = 64 << 10
/** Memory of a series beside its values. Unit: bytes. */
const SERIES_BYTES = 512

/** Sends an answer as JSON. Each part is made after the socket has accepted the previous part. */
export function sendJson(reply: FastifyReply, answer: QueryAnswer, unread: UnreadAnswers): FastifyReply {
  const { taken } = unread.hold(bytesOf(answer), reply.raw)
  const parts = async function* () {
    for await (const part of jsonOf(answer)) {
      yield part
      taken()
    }
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(parts(), { objectMode: false }))
}

/** Sends bytes that were made as a whole, in parts: so it is seen whether they are read. */
export function sendBytes(reply: FastifyReply, bytes: Uint8Array, unread: UnreadAnswers): FastifyReply {
  const { length } = bytes
  if (length <= PART_LENGTH) return reply.send(bytes)
  const { taken } = unread.hold(length, reply.raw)
  const parts = function* () {
    for (let at = 0; at < length; at += PART_LENGTH) {
      yield bytes.subarray(at, at + PART_LENGTH)
      taken()
    }
  }
  return reply.header('content-length', length).send(Readable.from(parts(), { objectMode: false }))
}

/**
 * Writes an answer as the event `points` of a stream. Each part is made after the socket has accepted the previous
 * part. Stops when the stream ends. Never rejects.
 */
export async function writePoints(
  out: ServerResponse,
  answer: QueryAnswer,
  { unread, isOver }: { readonly unread: UnreadAnswers; readonly isOver: () => boolean },
): Promise<void> {
  const { taken, release } = unread.hold(bytesOf(answer), out)
  const write = async (text: string) => {
    if (!out.write(text)) await drained(out)
    taken()
  }
  await write(eventStart('points', answer.toMs))
  for await (const part of jsonOf(answer)) {
    if (isOver()) break
    await write(part)
  }
  if (!isOver()) await write(EVENT_END)
  release()
}

/** Resolves when the socket has accepted the written data, or has closed. */
function drained(out: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      out.off('drain', done).off('close', done)
      resolve()
    }
    out.once('drain', done).once('close', done)
    if (out.destroyed) done()
  })
}

/** An answer as JSON, in parts. */
async function* jsonOf(answer: QueryAnswer): AsyncGenerator<string> {
  let text = ''
  for (const part of answerToJsonParts(answer)) {
    text += part
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
    if (turn.isOver()) await turn.next()
  }
  if (text !== '') yield text
}

/** The estimated size of an answer. */
function bytesOf({ times, results }: QueryAnswer): number {
  let bytes = times.byteLength
  for (const { series } of results)
    for (const { values, resetsMs } of series) bytes += values.byteLength + 8 * resetsMs.length + SERIES_BYTES
  return bytes
}
