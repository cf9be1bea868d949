import type { IncomingMessage } from 'node:http'
import { pipeline, Transform } from 'node:stream'
import { SondeError } from '@sonde/sdk'
import { refuseStatus } from './agent-answers.ts'
import type { AgentLink } from './agent-link.ts'

/** Time for a whole answer. Unit: milliseconds. */
const ANSWER_LIMIT_MS = 15_000
/** Policy: a longer answer is cut off. */
const ANSWER_BYTES_MAX = 64 << 20
/** Longer headers are not passed on. Unit: characters. */
const HEADER_LENGTH_MAX = 200

const PART = '[^/]+'
/** What of an agent may be read through a console, below `/api/v1/`. Nothing changes an agent. */
const READS = [
  ...['node', 'versions', 'sources', `sources/${PART}`, 'types', 'series', 'rates', 'devices', 'entities'],
  ...[`entities/${PART}`, 'hints', 'explain', 'traceback'],
  ...['simulator', 'query', 'incidents', 'annotations', `incidents/${PART}`],
  ...[`incidents/${PART}/(moved|lanes|file|samples)`, 'apps', `apps/${PART}/.+`, 'pods', `pods/${PART}/${PART}`],
  ...['scraper', 'troubleshooting'],
]
const READ = new RegExp(`^(${READS.join('|')})$`)
const STREAM = /^(incidents\/)?stream$/
/** Types of answers of an agent: none that a browser shows as a page of the console. */
const TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-sonde-columns',
  'application/vnd.sonde.samples',
]
const EVENTS = 'text/event-stream'

/** A request of a reader to an agent. */
export interface ForwardedRequest {
  readonly method: 'GET' | 'POST'
  /** The part of its path below `/api/v1/`, as it came. */
  readonly path: string
  /** Its query with the question mark; empty if there is none. */
  readonly query: string
  readonly accept: string | undefined
  /** Text of the body. */
  readonly body?: string
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal
}

/** The answer of an agent, as a reader may have it. */
export interface ForwardedAnswer {
  readonly status: number
  readonly type: string
  readonly isStream: boolean
  /** The name of a file that a browser saves; undefined for other answers. */
  readonly fileName?: string
  readonly body: NodeJS.ReadableStream
}

/**
 * Asks an agent for a reader: only routes that read, and only answers that are data.
 *
 * @throws SondeError `NOD_ROUTE`, `NOD_UNREACHABLE`, `NOD_BUSY`, `NOD_LOGIN` or `NOD_ANSWER`.
 */
export async function forward(link: AgentLink, asked: ForwardedRequest): Promise<ForwardedAnswer> {
  const { path, method, query, accept = '', body, signal } = asked
  const isStream = method === 'GET' && STREAM.test(path)
  const mayPost = path === 'query'
  if (!isStream && (!READ.test(path) || hasDots(path) || (method === 'POST' && !mayPost)))
    throw new SondeError('NOD_ROUTE', `${JSON.stringify(path.slice(0, 100))} of an agent is not read through a console`)
  const response = await link
    .ask({
      ...{ method, path: `/api/v1/${path}${query}`, signal },
      headers: {
        accept: isStream ? EVENTS : accept.slice(0, HEADER_LENGTH_MAX) || 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      limitMs: isStream ? Number.POSITIVE_INFINITY : ANSWER_LIMIT_MS,
    })
    .catch((error: unknown) => {
      throw unanswered(link, error)
    })
  refuseStatus(response)
  return answerOf(link, response, { isStream, path })
}

/** A segment of dots, in any spelling, would lead to another route. Names of entities may have an escaped slash. */
function hasDots(path: string): boolean {
  const plain = path.replace(/%(2e|2f|5c)/gi, (dot) => decodeURIComponent(dot))
  return plain.split(/[/\\]/).some((part) => part === '.' || part === '..')
}

function answerOf(
  { place }: AgentLink,
  response: IncomingMessage,
  { isStream, path }: { readonly isStream: boolean; readonly path: string },
): ForwardedAnswer {
  const { statusCode: status = 502, headers } = response
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  const isEvents = isStream && status === 200
  if (
    !(isEvents ? type === EVENTS : TYPES.includes(type)) ||
    Number(headers['content-length'] ?? 0) > ANSWER_BYTES_MAX
  ) {
    response.destroy()
    throw new SondeError('NOD_ANSWER', `${place.name} gives an answer that no agent gives`)
  }
  const [, event] = /^incidents\/[^/]+(?::|%3A)(\d{1,16})\/file$/i.exec(path) ?? []
  return {
    ...{ status, isStream: isEvents, type: type === 'application/json' ? `${type}; charset=utf-8` : type },
    ...(event !== undefined && status === 200 ? { fileName: `event-${event}.bin` } : {}),
    body: isEvents ? response : bounded(response),
  }
}

/** An answer that is cut off at its limit. */
function bounded(response: IncomingMessage): NodeJS.ReadableStream {
  let bytes = 0
  const counting = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.byteLength
      if (bytes > ANSWER_BYTES_MAX) done(new Error(`an agent gives more than ${ANSWER_BYTES_MAX} bytes`))
      else done(null, part)
    },
  })
  // Where one of the two fails both are destroyed, and the reader sees an answer that breaks off.
  return pipeline(response, counting, () => undefined)
}

function unanswered({ place }: AgentLink, error: unknown): unknown {
  if (!(error instanceof SondeError) || !error.code.startsWith('OUT_')) return error
  const code = error.code === 'OUT_TIMEOUT' ? 'NOD_TIMEOUT' : 'NOD_UNREACHABLE'
  return new SondeError(code, `${place.name} gives no answer: ${error.message}`, { cause: error })
}
