import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { IncidentAnswer, IncidentPin } from '@sonde/sdk/api'
import { makeFolders, messageOf, PRIVATE_FILE_MODE, sondeCommand } from '@sonde/sdk/internal'
import type { KeptRecords } from '../pipeline/kept-records.ts'
import { copyWindow } from './pin-copy.ts'

/** Most pins. Policy: further ones are refused. */
const PIN_COUNT_MAX = 100
/** Size of the records of one pin. Policy: the rest is not copied, and the pin says so. Unit: bytes. */
const PIN_BYTES_MAX = 64 << 20
/** Size of all pins. Policy: further ones are refused. Unit: bytes. */
const PINS_BYTES_MAX = 1 << 30
/** File with the incident of a pin, beside its records. */
const ABOUT = 'incident.json'
/** Name of a folder that is not complete yet. */
const PARTIAL = '.partial'
const PIN_NAME = /^[1-9]\d{0,19}$/

/** Options of {@link IncidentPins}. */
export interface IncidentPinsOptions {
  /** Folder of the pins; undefined if no history is kept. */
  readonly dir: string | undefined
  readonly kept: Pick<KeptRecords, 'types' | 'records'> | undefined
}

/** An incident with its pin, as it was pinned. */
type PinnedAnswer = IncidentAnswer & { readonly pin: IncidentPin }

/** Windows of incidents that people keep: copies in folders of their own, which no retention removes. */
export class IncidentPins {
  readonly #dir: string | undefined
  readonly #kept: IncidentPinsOptions['kept']
  readonly #pins = new Map<string, PinnedAnswer>()
  #opening: Promise<void> | undefined
  /** Pins are made one after the other, so that their limits hold. */
  #last: Promise<unknown> = Promise.resolve()

  constructor({ dir, kept }: IncidentPinsOptions) {
    this.#dir = dir
    this.#kept = kept
  }

  /** The pinned incident; undefined if it is not pinned. */
  async get(id: string): Promise<PinnedAnswer | undefined> {
    await this.#opened()
    return this.#pins.get(numberOf(id))
  }

  /** The pinned incident with an id, or with a hint of that number. */
  async find(id: string): Promise<PinnedAnswer | undefined> {
    await this.#opened()
    const number = numberOf(id)
    const isMeant = ({ incident }: PinnedAnswer) =>
      id === `${incident.node}:${number}` &&
      (incident.id === id || incident.hints.some(({ event }) => event === number))
    return [...this.#pins.values()].find(isMeant)
  }

  /** All pinned incidents, the latest pins first. */
  async list(): Promise<PinnedAnswer[]> {
    await this.#opened()
    return [...this.#pins.values()].sort((a, b) => b.pin.atMs - a.pin.atMs)
  }

  /**
   * Copies the window of an incident. Pins a pinned incident again, with what its window has now: if the history has
   * fewer records than the pin, the pin stays.
   *
   * @throws SondeError `INC_PIN` if it cannot be copied, `INC_LIMIT` if there are too many pins.
   */
  pin(answer: IncidentAnswer, who: string): Promise<void> {
    const next = this.#last.then(() => this.#pin(answer, who))
    this.#last = next.catch(() => undefined)
    return next
  }

  /** Removes the pin of an incident; returns whether there was one. */
  async unpin(id: string): Promise<boolean> {
    await this.#opened()
    const name = numberOf(id)
    if (this.#dir === undefined || !this.#pins.delete(name)) return false
    await rm(join(this.#dir, name), { recursive: true, force: true })
    return true
  }

  async #pin(answer: IncidentAnswer, who: string): Promise<void> {
    await this.#opened()
    const [dir, kept] = [this.#dir, this.#kept]
    if (dir === undefined || kept === undefined)
      throw new SondeError('INC_PIN', 'no history is kept, so there is nothing to pin; set store.enabled')
    const name = numberOf(answer.incident.id)
    this.#checkRoom(name)
    const partial = join(dir, name + PARTIAL)
    const folder = join(dir, name)
    try {
      await rm(partial, { recursive: true, force: true })
      await makeFolders(partial)
      const copied = await copyWindow(kept, answer.window, { folder: partial, limitBytes: PIN_BYTES_MAX })
      const before = this.#pins.get(name)
      if (before !== undefined && before.pin.records > copied.records) {
        await rm(partial, { recursive: true, force: true })
        return
      }
      if (copied.records === 0)
        throw new SondeError('INC_PIN', 'the history has no records of the window of this incident')
      const pin = { atMs: Date.now(), who, ...copied, command: `${sondeCommand()} read ${folder}` }
      const pinned = { ...answer, pin }
      await writeFile(join(partial, ABOUT), JSON.stringify(pinned), { mode: PRIVATE_FILE_MODE, flush: true })
      await rm(folder, { recursive: true, force: true })
      await rename(partial, folder)
      this.#pins.set(name, pinned)
    } catch (cause) {
      await rm(partial, { recursive: true, force: true }).catch(() => undefined)
      if (cause instanceof SondeError && cause.code.startsWith('INC_')) throw cause
      throw new SondeError('INC_PIN', `the window cannot be copied to ${folder}: ${messageOf(cause)}`, { cause })
    }
  }

  #checkRoom(name: string): void {
    const others = [...this.#pins].filter(([other]) => other !== name)
    const bytes = others.reduce((sum, [, { pin }]) => sum + pin.bytes, 0)
    const ways = 'unpin one first; GET /api/v1/pins lists them'
    if (others.length >= PIN_COUNT_MAX)
      throw new SondeError('INC_LIMIT', `${PIN_COUNT_MAX} incidents are pinned; ${ways}`)
    if (bytes + PIN_BYTES_MAX > PINS_BYTES_MAX)
      throw new SondeError('INC_LIMIT', `pinned incidents take ${bytes} of ${PINS_BYTES_MAX} bytes; ${ways}`)
  }

  #opened(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** Reads the pins of earlier lives. What a process left that was killed while it copied is removed. */
  async #open(): Promise<void> {
    const dir = this.#dir
    const names = dir === undefined ? [] : await readdir(dir).catch(() => [])
    for (const name of names) {
      const folder = join(dir ?? '', name)
      if (name.endsWith(PARTIAL)) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
      if (!PIN_NAME.test(name) || this.#pins.size >= PIN_COUNT_MAX) continue
      const pinned = await readFile(join(folder, ABOUT), 'utf8').then(pinnedIn, () => undefined)
      if (pinned !== undefined && numberOf(pinned.incident.id) === name) this.#pins.set(name, pinned)
    }
  }
}

/** The pinned incident of a file; undefined if it is damaged. */
function pinnedIn(text: string): PinnedAnswer | undefined {
  const read = JSON.parse(text) as Partial<PinnedAnswer> | null
  const { incident, window, notes, pin } = read ?? {}
  const texts = [incident?.id, incident?.node, incident?.rule, incident?.device, incident?.title, incident?.sentence]
  const numbers = [incident?.startMs, window?.fromMs, window?.toMs, pin?.bytes, pin?.records, pin?.atMs]
  const lists = [incident?.hints, incident?.affected, notes]
  const isWhole =
    texts.every((one) => typeof one === 'string') && numbers.every(Number.isFinite) && lists.every(Array.isArray)
  return isWhole ? (read as PinnedAnswer) : undefined
}

/** Number of an incident, which names its folder. */
function numberOf(id: string): string {
  return id.slice(id.lastIndexOf(':') + 1)
}
