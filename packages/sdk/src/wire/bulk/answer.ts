/** One item of an answer that was not `ok`. */
export interface BulkFault {
  /** Place of the record in the request, from 0. */
  readonly index: number
  /** Whether the same record may be accepted later, because the fault is not in the record. */
  readonly isTransient: boolean
  /** Status and words of the server. */
  readonly reason: string
}

/** The items of a 200 answer to `_bulk` that failed. */
export interface BulkAnswer {
  readonly faults: readonly BulkFault[]
}

const REASON_CHARACTERS_MAX = 200
const CONFLICT = 409
/** Rights, a missing index and an overload are no faults of the record. */
const NOT_NOW: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/**
 * Reads the answer to a `_bulk` request of `count` records. A 200 says only that the server read the request: each item
 * has a status of its own. Undefined: the text is no answer for that many records. Pure.
 */
export function readBulkAnswer(text: string, count: number): BulkAnswer | undefined {
  const answer = parsed(text)
  if (answer === undefined || typeof answer.errors !== 'boolean') return undefined
  if (!answer.errors) return { faults: [] }
  const { items } = answer
  if (!Array.isArray(items) || items.length !== count) return undefined
  const faults: BulkFault[] = []
  for (const [index, item] of items.entries()) {
    const result = item !== null && typeof item === 'object' ? Object.values(item)[0] : undefined
    const { status, error } = (result ?? {}) as { readonly status?: unknown; readonly error?: unknown }
    if (typeof status !== 'number') return undefined
    // The document is there already, because its request was sent before.
    if ((status >= 200 && status < 300) || status === CONFLICT) continue
    const isTransient = status >= 500 || NOT_NOW.has(status)
    faults.push({ index, isTransient, reason: `${status} ${wordsOf(error)}`.trim().slice(0, REASON_CHARACTERS_MAX) })
  }
  return { faults }
}

function parsed(text: string): { readonly errors?: unknown; readonly items?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

/** Type, reason and innermost cause: `mapper_parsing_exception: failed to parse field [speed]: …`. */
function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error
  const words: string[] = []
  let at: unknown = error
  for (let depth = 0; depth < 4 && at !== null && typeof at === 'object'; depth++) {
    const { type, reason, caused_by: cause } = at as Readonly<Record<string, unknown>>
    for (const text of depth === 0 ? [type, reason] : [reason]) if (typeof text === 'string') words.push(text)
    at = cause
  }
  return words.join(': ').replaceAll(/\s+/g, ' ')
}
