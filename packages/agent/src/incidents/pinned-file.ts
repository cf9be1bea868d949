import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { IncidentAnswer, IncidentPin } from '@sonde/sdk/api'
import { readTextFile } from '@sonde/sdk/internal'

/** File with the incident of a pin, beside its records. */
export const ABOUT = 'incident.json'
/** Size of this file. Policy: a larger one is not written, and not read. Unit: bytes. */
export const ABOUT_BYTES_MAX = 16 << 20

/** An incident with its pin, as it was pinned. */
export type PinnedAnswer = IncidentAnswer & { readonly pin: IncidentPin }

/** Reads the pinned incident of a folder; undefined if it is missing or damaged. */
export async function readPinned(folder: string): Promise<PinnedAnswer | undefined> {
  const path = join(folder, ABOUT)
  const fault = (_kind: string, why: string) => new SondeError('INC_PIN', `${path} ${why}`)
  try {
    return pinnedIn(await readTextFile({ path, isLinkRefused: true, limitBytes: ABOUT_BYTES_MAX, fault }))
  } catch {
    return undefined
  }
}

/** @throws SyntaxError if the text is not JSON. */
function pinnedIn(text: string): PinnedAnswer | undefined {
  const read = JSON.parse(text) as Partial<PinnedAnswer> | null
  const { incident, window, notes, pin } = read ?? {}
  const texts = [incident?.id, incident?.node, incident?.rule, incident?.device, incident?.title, incident?.sentence]
  const numbers = [incident?.startMs, window?.fromMs, window?.toMs, pin?.bytes, pin?.records, pin?.atMs]
  const isWhole =
    texts.every((one) => typeof one === 'string') &&
    numbers.every((one) => Number.isFinite(one) && Number(one) >= 0) &&
    [incident?.hints, notes].every(isListOfObjects) &&
    isListOf(incident?.affected, 'string')
  return isWhole ? (read as PinnedAnswer) : undefined
}

function isListOfObjects(given: unknown): boolean {
  return isListOf(given, 'object') && (given as unknown[]).every((one) => one !== null)
}

function isListOf(given: unknown, type: 'string' | 'object'): boolean {
  return Array.isArray(given) && given.every((one) => typeof one === type)
}
