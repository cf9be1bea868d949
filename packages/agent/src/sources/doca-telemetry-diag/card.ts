import { setTimeout as pause } from 'node:timers/promises'
import type { DocaDevice } from '../../native/doca/device.ts'
import { type DiagConfig, DiagSampler } from '../../native/doca/diag.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { isChild } from '../doca/note-file.ts'
import { commandOf, type Holder, HolderNote } from './holder-note.ts'

/** How long a process of Sonde is asked to release the counters before they are taken by force. Unit: milliseconds. */
const ASK_MS = 1500
const ASK_EVERY_MS = 50
/** Time between two checks whether another process of Sonde asks for the counters. Unit: milliseconds. */
const CHECK_EVERY_MS = 200
const CREATE = 'doca_telemetry_diag_create'
const FORCE = 'take them from it with --force-ownership of `sonde traceback`, or force_ownership of the source'

/** The samples of a function of a card. */
export type Sampler = Pick<
  DiagSampler,
  'ids' | 'refused' | 'periodNs' | 'sampleBytes' | 'samples' | 'count' | 'query' | 'close'
>

/**
 * The diagnostic counters of a card. All its functions and all processes share a single set. Functions whose samples
 * are requested take turns. A function that samples by itself keeps the counters.
 */
export class Card {
  readonly #note: HolderNote
  #holder: CardSampler | undefined
  #last: Promise<unknown> = Promise.resolve()
  #checkedMs = Number.NEGATIVE_INFINITY

  constructor(card: string, library: string) {
    this.#note = new HolderNote(card, library)
  }

  /** Runs work on the counters after all earlier work of this process. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  /**
   * Returns the process of Sonde that asks for the counters while this process holds them. Call it within {@link
   * inTurn}.
   */
  claimant(): Holder | undefined {
    const nowMs = performance.now()
    if (nowMs - this.#checkedMs < CHECK_EVERY_MS) return undefined
    this.#checkedMs = nowMs
    const holder = this.#note.read()
    return holder?.isOwn === false && holder.isTrusted && holder.isAsking ? holder : undefined
  }

  /** Opens the counters for a function, or returns why they are not available. Call it within {@link inTurn}. */
  async take(device: DocaDevice, config: DiagConfig): Promise<DiagSampler | DocaFailure> {
    const before = this.#holder
    if (before?.keeps === true) return heldBySibling(device.name, before.device.name)
    await before?.release()
    this.#holder = undefined
    const { force } = config
    const holder = this.#note.read()
    const isOther = holder?.isOwn === false
    // An agent waits for another process of Sonde. A command that a person started may ask that process to release the
    // counters.
    if (isOther && holder.isTrusted && isChild()) return heldByOther(device.name, holder, config)
    let opened = force && isOther ? await this.#ask(device, config) : undefined
    opened ??= await DiagSampler.open(device, config)
    if (!(opened instanceof DocaFailure)) {
      if (this.#note.read()?.isOwn !== true) this.#note.hold()
      return opened
    }
    this.#note.remove()
    return opened.name === 'IN_USE' ? heldByOther(device.name, isOther ? holder : undefined, config) : opened
  }

  /** Remembers which function has the counters. Call it within {@link inTurn}. */
  hold(sampler: CardSampler): void {
    this.#holder = sampler
  }

  /** Releases the counters of a function that no longer needs them. Call it within {@link inTurn}. */
  async leave(sampler: CardSampler): Promise<void> {
    await sampler.release()
    if (this.#holder !== sampler) return
    this.#holder = undefined
    this.#note.remove()
  }

  /** Asks another process of Sonde to release the counters; undefined if it does not in time. */
  async #ask(device: DocaDevice, config: DiagConfig): Promise<DiagSampler | DocaFailure | undefined> {
    this.#note.ask()
    const untilMs = performance.now() + ASK_MS
    while (performance.now() < untilMs) {
      const opened = await DiagSampler.open(device, { ...config, force: false })
      if (!(opened instanceof DocaFailure) || opened.name !== 'IN_USE') return opened
      await pause(ASK_EVERY_MS)
    }
    return undefined
  }
}

/** The samples of one function. It takes the counters of its card as often as it needs them. */
export class CardSampler implements Sampler {
  readonly device: DocaDevice
  readonly config: DiagConfig
  readonly #card: Card
  /** The last opened sampler; its samples stay readable after it is closed. */
  #sampler: DiagSampler
  #isOpen = true
  /** Why it has lost the counters for good. */
  #lost: DocaFailure | undefined

  private constructor(card: Card, device: DocaDevice, config: DiagConfig, sampler: DiagSampler) {
    this.#card = card
    this.device = device
    this.config = config
    this.#sampler = sampler
  }

  /** Takes the counters of the card of a device, and starts sampling. */
  static open(card: Card, device: DocaDevice, config: DiagConfig): Promise<CardSampler | DocaFailure> {
    return card.inTurn(async () => {
      const opened = await card.take(device, config)
      if (opened instanceof DocaFailure) return opened
      const sampler = new CardSampler(card, device, config, opened)
      card.hold(sampler)
      return sampler
    })
  }

  /** Whether the device samples by itself. A turn of another function would stop that. */
  get keeps(): boolean {
    return this.config.periodNs > 0
  }

  get ids(): readonly bigint[] {
    return this.#sampler.ids
  }

  get refused(): Map<bigint, DocaFailure> {
    return this.#sampler.refused
  }

  get periodNs(): number {
    return this.#sampler.periodNs
  }

  get sampleBytes(): number {
    return this.#sampler.sampleBytes
  }

  get samples(): DataView {
    return this.#sampler.samples
  }

  get count(): number {
    return this.#sampler.count
  }

  /** See {@link DiagSampler}. If another function of the card has the counters, it takes them first. */
  query(): Promise<DocaFailure | undefined> {
    return this.#card.inTurn(async () => (await this.#hold()) ?? this.#sampler.query())
  }

  close(): Promise<void> {
    return this.#card.inTurn(() => this.#card.leave(this))
  }

  /** Releases the counters until its next turn. Only {@link Card} calls it. */
  async release(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#sampler.close()
  }

  async #hold(): Promise<DocaFailure | undefined> {
    const { name } = this.device
    if (this.#isOpen) {
      const claimant = this.#card.claimant()
      if (claimant === undefined) return undefined
      await this.#card.leave(this)
      const failure = heldByOther(name, claimant, this.config)
      if (this.keeps) this.#lost = failure
      return failure
    }
    if (this.#lost !== undefined) return this.#lost
    const ids = this.ids.join()
    const opened = await this.#card.take(this.device, this.config)
    if (opened instanceof DocaFailure) return opened
    this.#card.hold(this)
    this.#sampler = opened
    this.#isOpen = true
    if (opened.ids.join() === ids) return undefined
    // The rows belong to the old counters, so the device has to be opened again.
    await this.#card.leave(this)
    return new DocaFailure(name, 'doca_telemetry_diag_apply_counters_list_by_id', 'UNEXPECTED')
  }
}

function heldBySibling(device: string, other: string): DocaFailure {
  const words = `${other}, another function of the card, is sampled, and the card has only one set of these counters`
  return new DocaFailure(device, CREATE, 'IN_USE', { kind: 'unsupported', words })
}

function heldByOther(device: string, holder: Holder | undefined, { force }: DiagConfig): DocaFailure {
  const who =
    holder === undefined
      ? 'another program'
      : `\`${commandOf(holder.pid)}\` (process ${holder.pid}, since ${new Date(holder.sinceMs).toISOString()})`
  const waits =
    holder === undefined || !isChild() ? 'and force does not take them: stop it' : 'Sonde continues when it ends'
  const words = `${who} holds the counters of this card${force ? `, ${waits}` : `: stop it, or ${FORCE}`}`
  return new DocaFailure(device, CREATE, 'IN_USE', { kind: 'denied', words })
}
