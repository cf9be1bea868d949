import type { HttpProtocol } from '../../delivery/connection/http-client.ts'
import type { HttpAnswer } from '../../delivery/connection/http-endpoint.ts'
import type { SendResult } from '../../delivery/sender.ts'
import { SondeError, warnOfFault } from '../../errors.ts'
import { printable } from '../../internal/shown-text.ts'
import {
  type ExportAnswer,
  jsonStatusMessage,
  readAnswer,
  readJsonAnswer,
  statusMessage,
} from '../../wire/otlp/answer.ts'
import type { OtlpProtocol } from './config.ts'

/** The specification allows no other status. A connection that closes without an answer is tried again too. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])
const CONTENT_TYPE = { 'http/protobuf': 'application/x-protobuf', 'http/json': 'application/json' } as const
/** Longest answer. Unit: bytes. */
const ANSWER_BYTES_MAX = 64 << 10
const WORDS_CHARACTERS_MAX = 200
/** Time between two warnings. Unit: milliseconds. */
const WARNING_MS = 60_000

/** How OTLP uses HTTP. `name` is that of the destination. */
export function otlpProtocol(name: string, protocol: OtlpProtocol): HttpProtocol {
  let warnedMs = Number.NEGATIVE_INFINITY
  const warn = (message: string) => {
    if (performance.now() - warnedMs < WARNING_MS) return
    warnedMs = performance.now()
    warnOfFault(new SondeError('OTL_WARNING', `${name}: the receiver warns: ${message}`))
  }
  return {
    name,
    contentType: CONTENT_TYPE[protocol],
    retried: RETRIED,
    answerBytesMax: ANSWER_BYTES_MAX,
    resultOf: (answer) => resultOfAnswer(answer, warn),
    wordsOf: (answer) => shortened(answer, statusOf(answer)),
  }
}

/** Receivers may have accepted a part of a request: that is never sent again. */
function resultOfAnswer(answer: HttpAnswer, warn: (message: string) => void): SendResult {
  if (!answer.isWhole) return { outcome: 'retry', reason: `the answer is longer than ${ANSWER_BYTES_MAX} bytes` }
  const read = read2xx(answer)
  if (read === undefined) {
    const type = printable(answer.header('content-type') ?? 'none').slice(0, WORDS_CHARACTERS_MAX)
    return { outcome: 'retry', reason: `HTTP ${answer.status} with an answer that is not OTLP; content type: ${type}` }
  }
  const words = shortened(answer, read.message)
  if (read.rejected > 0n) {
    const reason = `partial success: ${words === '' ? `${read.rejected} refused` : words}`
    return { outcome: 'partial', refused: [], unknown: { records: Number(read.rejected), reason } }
  }
  if (words !== '') warn(words)
  return { outcome: 'ok' }
}

/** An empty body is a full success; every other body must be of a type that OTLP has. */
function read2xx(answer: HttpAnswer): ExportAnswer | undefined {
  if (answer.body.length === 0) return readAnswer(answer.body)
  if (isJson(answer)) return readJsonAnswer(answer.text)
  return isProtobuf(answer) ? readAnswer(answer.body) : undefined
}

function statusOf(answer: HttpAnswer): string {
  if (isJson(answer)) return jsonStatusMessage(answer.text) || answer.text
  return isProtobuf(answer) ? statusMessage(answer.body) : answer.text
}

function isJson(answer: HttpAnswer): boolean {
  return /^application\/json\b/i.test(answer.header('content-type') ?? '')
}

function isProtobuf(answer: HttpAnswer): boolean {
  return /^application\/x-protobuf\b/i.test(answer.header('content-type') ?? '')
}

/** Words of a receiver without secrets, on one line. */
function shortened(answer: HttpAnswer, words: string): string {
  return printable(answer.withoutSecrets(words).split('\n', 1)[0] ?? '').slice(0, WORDS_CHARACTERS_MAX)
}
