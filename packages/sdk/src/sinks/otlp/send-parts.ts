import type { RefusedRecords, SendResult } from '../../delivery/sender.ts'
import type { OtlpPart } from './parts.ts'

/** The payload of a delivery: parts that have not been answered, and what was refused of the others. */
export interface OtlpRequest {
  parts: OtlpPart[]
  readonly refused: RefusedRecords[]
  /** Time of the newest record. Unit: milliseconds since the Unix epoch. */
  readonly newestMs: number
  unknown: { readonly records: number; readonly reason: string } | undefined
}

/**
 * Makes one attempt: sends the parts in order, until one has to be sent again later. Parts that were answered are not
 * sent again. A part that is too large is sent in halves, and `onTooLarge` is told. So is a part with a record that the
 * receiver cannot read: the records beside it are not lost.
 */
export async function sendParts(
  request: OtlpRequest,
  send: (part: OtlpPart) => Promise<SendResult>,
  onTooLarge: (part: OtlpPart) => void = () => undefined,
): Promise<SendResult> {
  for (;;) {
    const [part, ...others] = request.parts
    if (part === undefined) break
    const result = await send(part)
    if (result.outcome === 'retry') return result
    request.parts = others
    if (result.outcome === 'partial') noteUnknown(request, part, result)
    if (result.outcome !== 'reject') continue
    const halves = result.because === undefined ? undefined : part.halves()
    if (halves === undefined) {
      request.refused.push(...part.refusal(result.reason))
      continue
    }
    if (result.because === 'size') onTooLarge(part)
    request.parts = [...halves, ...others]
  }
  const { refused, unknown } = request
  return refused.length === 0 && unknown === undefined ? { outcome: 'ok' } : { outcome: 'partial', refused, unknown }
}

/** The receiver says how many points it refused, not which: they count as records, rounded up. */
function noteUnknown(
  request: OtlpRequest,
  part: OtlpPart,
  { unknown }: Extract<SendResult, { outcome: 'partial' }>,
): void {
  if (unknown === undefined) return
  const records = Math.min(part.records, Math.ceil((unknown.records * part.records) / part.items()))
  request.unknown = { records: records + (request.unknown?.records ?? 0), reason: unknown.reason }
}
