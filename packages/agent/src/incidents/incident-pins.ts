import { readdir, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { IncidentAnswer } from '@sonde/sdk/api'
import { makeFolders, messageOf, PRIVATE_FILE_MODE, sondeCommand } from '@sonde/sdk/internal'
import type { KeptRecords } from '../pipeline/kept-records.ts'
import { copyWindow } from './pin-copy.ts'
import { ABOUT, ABOUT_BYTES_MAX, type PinnedAnswer, readPinned } from './pinned-file.ts'

/** Most pins. Policy: further ones are refused. */
const PIN_COUNT_MAX = 100
/** Size of the records of one pin. Policy: the rest is not copied, and the pin says so. Unit: bytes. */
const PIN_BYTES_MAX = 64 << 20
/** Size of all pins. Policy: further ones are refused. Unit: bytes. */
const PINS_BYTES_MAX = 1 << 30
/** Space that a pin leaves on the disk, so that pins take none from the history. Policy: it is refused. Unit: bytes. */
const FREE_BYTES_LEAST = 256 << 20
/** Incidents that wait to be copied, with the one that is. Policy: further ones are refused. */
const COPY_COUNT_MAX = 8
/** End of the name of a folder that is not complete yet. */
const PARTIAL = '.partial'
/** End of the name of a folder that is being removed. */
const REMOVED = '.removed'
const PIN_NAME = /^[1-9]\d{0,19}$/

/** Options of {@link IncidentPins}. */
export interface IncidentPinsOptions {
  /** Folder of the pins; undefined if no history is kept. */
  readonly dir: string | undefined
  readonly kept: Pick<KeptRecords, 'types' | 'records'> | undefined
}

/** Windows of incidents that people keep: copies in folders of their own, which no retention removes. */
export class IncidentPins {
  readonly #dir: string | undefined
  readonly #kept: IncidentPinsOptions['kept']
  readonly #pins = new Map<string, PinnedAnswer>()
  /** Copies that are made or wait, by the name of the pin: who asks for the same pin meanwhile gets the same. */
  readonly #copies = new Map<string, Promise<void>>()
  #opening: Promise<void> | undefined
  /** Pins are made and removed one after the other, so that their limits hold. */
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
    const name = numberOf(answer.incident.id)
    const same = this.#copies.get(name)
    if (same !== undefined) return same
    if (this.#copies.size >= COPY_COUNT_MAX) {
      const words = `${COPY_COUNT_MAX} incidents wait to be copied; pin this one when they are`
      return Promise.reject(new SondeError('INC_LIMIT', words))
    }
    const copy = this.#inTurn(() => this.#pin(answer, who)).finally(() => {
      if (this.#copies.get(name) === copy) this.#copies.delete(name)
    })
    this.#copies.set(name, copy)
    return copy
  }

  /**
   * Removes the pin of an incident, given its id or that of one of its hints; returns whether there was one.
   *
   * @throws SondeError `INC_PIN` if it cannot be removed.
   */
  unpin(id: string): Promise<boolean> {
    // A copy that is asked for from now on is made after the removal.
    this.#copies.delete(numberOf(id))
    return this.#inTurn(async () => {
      const pinned = await this.find(id)
      if (this.#dir === undefined || pinned === undefined) return false
      const name = numberOf(pinned.incident.id)
      await this.#removeFolder(name)
      this.#pins.delete(name)
      return true
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  /** Removes the folder of a pin. A kill meanwhile leaves a folder that the next life removes. */
  async #removeFolder(name: string): Promise<void> {
    const folder = join(this.#dir ?? '', name)
    try {
      await rm(folder + REMOVED, { recursive: true, force: true })
      await rename(folder, folder + REMOVED).catch(ignoreMissing)
    } catch (cause) {
      throw new SondeError('INC_PIN', `the pin cannot be removed from ${folder}: ${messageOf(cause)}`, { cause })
    }
    await rm(folder + REMOVED, { recursive: true, force: true }).catch(() => undefined)
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
      await checkSpace(partial)
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
      const about = JSON.stringify(pinned)
      if (Buffer.byteLength(about) > ABOUT_BYTES_MAX)
        throw new SondeError('INC_PIN', `its hints and notes take more than ${ABOUT_BYTES_MAX} bytes`)
      await writeFile(join(partial, ABOUT), about, { mode: PRIVATE_FILE_MODE, flush: true })
      await this.#removeFolder(name)
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

  /**
   * Reads the pins of earlier lives. What a process left that was killed while it copied or removed is removed. A copy
   * that was complete, and only had to take its name, takes it.
   */
  async #open(): Promise<void> {
    const dir = this.#dir
    if (dir === undefined) return
    for (const left of (await namesIn(dir)).filter((name) => name.endsWith(PARTIAL))) {
      const name = left.slice(0, -PARTIAL.length)
      const isWhole = PIN_NAME.test(name) && (await readPinned(join(dir, left))) !== undefined
      if (isWhole)
        await this.#removeFolder(name)
          .then(() => rename(join(dir, left), join(dir, name)))
          .catch(() => undefined)
    }
    for (const name of await namesIn(dir)) {
      const folder = join(dir, name)
      const isLeft = name.endsWith(PARTIAL) || name.endsWith(REMOVED)
      if (isLeft) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
      if (isLeft || !PIN_NAME.test(name) || this.#pins.size >= PIN_COUNT_MAX) continue
      const pinned = await readPinned(folder)
      if (pinned !== undefined && numberOf(pinned.incident.id) === name) this.#pins.set(name, pinned)
    }
  }
}

/** @throws SondeError `INC_PIN` if too little would be left on the disk. */
async function checkSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const least = PIN_BYTES_MAX + FREE_BYTES_LEAST
  if (bavail * bsize >= least) return
  const words = `the disk of ${folder} has ${bavail * bsize} free bytes, and a pin needs ${least}; free some space`
  throw new SondeError('INC_PIN', words)
}

function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => [])
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Number of an incident, which names its folder. */
function numberOf(id: string): string {
  return id.slice(id.lastIndexOf(':') + 1)
}
