import type { HttpRequest } from '../../delivery/connection/http-client.ts'
import type { HttpAnswer } from '../../delivery/connection/http-endpoint.ts'
import type { SendResult } from '../../delivery/sender.ts'
import { SondeError, warnOfFault } from '../../errors.ts'

/** A version of the protocol. */
export type Version = '1.0' | '2.0'

/** Headers that a version prescribes. The user agent is mandatory. */
export const HEADERS: Readonly<Record<Version, Readonly<Record<string, string>>>> = {
  '1.0': {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
    'user-agent': 'sonde',
  },
  '2.0': {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '2.0.0',
    'user-agent': 'sonde',
  },
}

/** The parts of answers of 2.0; on 2xx and 4xx. A missing one counts 0. */
const WRITTEN = ['samples', 'histograms', 'exemplars'].map((what) => `x-prometheus-remote-write-${what}-written`)

type Head = Pick<HttpAnswer, 'status' | 'header'>

/** An answer of the receiver, as far as versions need it. */
interface Noted {
  readonly status: number
  /** Samples and histograms that the receiver has written; undefined if it does not say. */
  readonly written: number | undefined
}

/**
 * The version that a receiver takes. A receiver of 1.0 answers a request of 2.0 with 415 or 400, or with 2xx and
 * without the headers of 2.0, and stores nothing; from then on it gets 1.0. Seen with Prometheus 2.42 and
 * VictoriaMetrics 1.79.
 */
export class Versions {
  current: Version
  /**
   * Why the receiver gets 1.0 although 2.0 is configured, as a sentence; empty while it gets the configured version.
   */
  fallback = ''
  readonly #name: string
  /** Whether an answer had the headers of 2.0. */
  #isConfirmed = false
  readonly #answers = new WeakMap<HttpRequest, Noted>()

  constructor(wanted: Version, name: string) {
    this.current = wanted
    this.#name = name
  }

  /** Notes an answer with 2xx. */
  readonly resultOf = (answer: Head, request: HttpRequest): SendResult => {
    this.#note(answer, request)
    return { outcome: 'ok' }
  }

  /** Notes another answer. Its words say how much was written. */
  readonly wordsOf = (answer: HttpAnswer, request: HttpRequest): string => {
    const { written } = this.#note(answer, request)
    const [line = ''] = answer.text.split('\n', 1)
    return written === undefined ? line : `${line} (${written} written)`
  }

  /** The result of a request of 2.0 with so many samples; `other_version` if the receiver may take 1.0. */
  resultOf2(request: HttpRequest, result: SendResult, samples: number): SendResult | 'other_version' {
    const answer = this.#answers.get(request)
    if (answer === undefined) return result
    const { status, written } = answer
    if (written !== undefined) this.#isConfirmed = true
    if (status === 415) return 'other_version'
    if (result.outcome === 'ok') {
      if (written === undefined) return 'other_version'
      if (written >= samples) return result
      return { outcome: 'reject', reason: `HTTP ${status}: ${written} of ${samples} samples were written` }
    }
    return status === 400 && !this.#isConfirmed ? 'other_version' : result
  }

  /** The receiver took the same records as 1.0. */
  fallBack(): void {
    if (this.current === '1.0') return
    this.current = '1.0'
    this.fallback = 'the receiver does not take Remote-Write 2.0, so it gets 1.0'
    const advice = 'version: 1.0 says so from the start'
    warnOfFault(new SondeError('RWR_FALLBACK', `${this.#name}: ${this.fallback}; ${advice}`))
  }

  #note(answer: Head, request: HttpRequest): Noted {
    const counts = WRITTEN.map((name) => countIn(answer.header(name)))
    const written = counts.every((count) => count === undefined) ? undefined : (counts[0] ?? 0) + (counts[1] ?? 0)
    const noted = { status: answer.status, written }
    this.#answers.set(request, noted)
    return noted
  }
}

/** The number in a header; undefined without a header, and if the text is no whole number. */
function countIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
