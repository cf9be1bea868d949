import { createHash, randomBytes } from 'node:crypto'
import type { KnownToken } from './tokens.ts'

const ID_BYTES = 32
/** Policy: the session that was idle longest ends. */
const SESSION_COUNT_MAX = 10_000
/** A session that nobody uses ends. Unit: milliseconds. */
const IDLE_MS = 2 * 3_600_000
/** A session gets another id after this time, so that a stolen id is worth little. Unit: milliseconds. */
const ROTATE_MS = 15 * 60_000
/** Requests that were sent with the id before may still arrive. Unit: milliseconds. */
const OVERLAP_MS = 60_000

/** A login of the page. */
export interface PageSession {
  /** Hash of its token: the session ends with the token. */
  readonly sha256: string
  /** What the page sends with each change, beside the cookie. */
  readonly csrf: string
  readonly startedMs: number
  rotatedMs: number
  usedMs: number
  /** Whether somebody ended it before its time. */
  isEnded: boolean
}

/** Sessions in memory: they end with the process. Ids are known by their hash alone. */
export class Sessions {
  readonly #lifeMs: number
  readonly #sessions = new Map<string, PageSession>()
  /** Ids that were replaced, and until when they count. */
  readonly #replaced = new Map<string, { readonly session: PageSession; readonly untilMs: number }>()

  /** @param lifeMs How long a session lasts, however much it is used. */
  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Starts a session; its id is new, whatever the browser sent before. */
  start(
    { sha256 }: Pick<KnownToken, 'sha256'>,
    nowMs = Date.now(),
  ): { readonly id: string; readonly session: PageSession } {
    this.#sweep(nowMs)
    const session = { sha256, csrf: randomId(), startedMs: nowMs, rotatedMs: nowMs, usedMs: nowMs, isEnded: false }
    return { id: this.#put(session), session }
  }

  /** The session of an id, and its next id if it is time for one; undefined if there is none. */
  use(id: string, nowMs = Date.now()): { readonly session: PageSession; readonly nextId?: string } | undefined {
    const key = keyOf(id)
    const session = this.#sessions.get(key)
    if (session === undefined) {
      const before = this.#replaced.get(key)
      return before === undefined || before.untilMs < nowMs || this.#isOver(before.session, nowMs)
        ? undefined
        : { session: before.session }
    }
    if (this.#isOver(session, nowMs)) {
      this.#sessions.delete(key)
      return undefined
    }
    session.usedMs = nowMs
    // The map keeps the order of use: the first is idle longest.
    this.#sessions.delete(key)
    if (nowMs - session.rotatedMs < ROTATE_MS) {
      this.#sessions.set(key, session)
      return { session }
    }
    session.rotatedMs = nowMs
    this.#replaced.set(key, { session, untilMs: nowMs + OVERLAP_MS })
    return { session, nextId: this.#put(session) }
  }

  /** Ends the session of an id. */
  end(id: string): void {
    const key = keyOf(id)
    const session = this.#sessions.get(key) ?? this.#replaced.get(key)?.session
    if (session !== undefined) session.isEnded = true
    for (const [other, each] of this.#sessions) if (each === session) this.#sessions.delete(other)
    for (const [other, each] of this.#replaced) if (each.session === session) this.#replaced.delete(other)
  }

  /** Whether a session goes on. To ask is no use of it. */
  isOpen(session: PageSession, nowMs = Date.now()): boolean {
    return !session.isEnded && !this.#isOver(session, nowMs)
  }

  #put(session: PageSession): string {
    const id = randomId()
    this.#sessions.set(keyOf(id), session)
    return id
  }

  #isOver({ startedMs, usedMs }: PageSession, nowMs: number): boolean {
    return nowMs - startedMs >= this.#lifeMs || nowMs - usedMs >= IDLE_MS
  }

  #sweep(nowMs: number): void {
    for (const [key, session] of this.#sessions) if (this.#isOver(session, nowMs)) this.#sessions.delete(key)
    for (const [key, { untilMs }] of this.#replaced) if (untilMs < nowMs) this.#replaced.delete(key)
    for (const key of this.#sessions.keys()) {
      if (this.#sessions.size < SESSION_COUNT_MAX) break
      this.#sessions.delete(key)
    }
  }
}

function randomId(): string {
  return randomBytes(ID_BYTES).toString('base64url')
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}
