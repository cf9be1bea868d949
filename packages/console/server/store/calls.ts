import { SondeError } from '@sonde/sdk'
import { type Asker, AskerQueue } from '@sonde/sdk/internal'
import { type AnswerPart, joined } from './answer-parts.ts'
import type { Answer } from './protocol.ts'

const CALL_COUNT_LIMIT = 1000

interface Call {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | undefined
}

/** A question that was not yet given to the worker. */
export interface Question {
  readonly id: number
  /** Who asks; undefined if the process itself does. */
  readonly asker: Asker | undefined
  /** Gives it to the worker. */
  readonly send: (id: number) => void
  /** The last page that is written before it; undefined until its turn comes. */
  afterPage: number | undefined
}

/**
 * What the worker was asked and has not answered. Questions wait here for their turn, and clients take turns. One
 * question is with the worker at a time: otherwise what is reported meanwhile would wait for all of them.
 */
export class Calls {
  readonly #limitMs: number
  readonly #open = new Map<number, Call>()
  readonly #waiting = new AskerQueue<Question>()
  /** The question whose turn it is: it waits for pages alone. */
  #next: Question | undefined
  #nextId = 0
  /** The question that the worker has. */
  #asked: number | undefined
  /** Parts of its answer that came. */
  #parts: AnswerPart[] = []

  /** @param limitMs How long a question waits for its answer. Unit: milliseconds. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /**
   * Puts a question into the row.
   *
   * @throws SondeError `STO_BUSY` where too many wait, `STO_TIMEOUT` if it waited too long.
   */
  ask(send: (id: number) => void, asker?: Asker): Promise<Answer> {
    if (this.#isFull()) return Promise.reject(busy())
    const id = this.#nextId++
    const question: Question = { id, asker, send, afterPage: undefined }
    this.#waiting.add(asker, question)
    const timer = setTimeout(() => this.#expire(question), this.#limitMs).unref()
    return this.#expect(id, timer)
  }

  /**
   * Sends what need not wait for its turn, and may take as long as it likes.
   *
   * @throws SondeError `STO_BUSY`.
   */
  start(send: (id: number) => void): Promise<Answer> {
    if (this.#isFull()) return Promise.reject(busy())
    const id = this.#nextId++
    const answer = this.#expect(id, undefined)
    send(id)
    return answer
  }

  /** The question whose turn it is; undefined while the worker has one. */
  get next(): Question | undefined {
    if (this.#asked !== undefined) return undefined
    while (this.#next === undefined || this.#next.asker?.isGone()) {
      if (this.#next !== undefined) this.reject(this.#next.id, hasLeft())
      this.#next = this.#waiting.next()
      if (this.#next === undefined) break
    }
    return this.#next
  }

  /** Gives the next question to the worker. */
  send(): void {
    const { next } = this
    if (next === undefined) return
    this.#next = undefined
    this.#asked = next.id
    next.send(next.id)
  }

  /** A part of an answer came; the answer itself comes last. */
  take(id: number, part: AnswerPart): void {
    if (id === this.#asked && this.#open.has(id)) this.#parts.push(part)
  }

  /** The worker answered. */
  resolve(id: number, answer: Answer): void {
    const parts = id === this.#asked ? this.#parts : []
    const isPart = parts.length > 0 && answer !== undefined && 'results' in answer
    this.#take(id)?.resolve(isPart ? joined(answer, parts) : answer)
  }

  /** The worker refused. */
  reject(id: number, error: Error): void {
    this.#take(id)?.reject(error)
  }

  /** Nobody will answer what is open. */
  rejectAll(error: Error): void {
    for (const id of [...this.#open.keys()]) this.reject(id, error)
    while (this.#waiting.next() !== undefined);
    this.#next = undefined
    this.#forgetAsked()
  }

  #forgetAsked(): void {
    this.#asked = undefined
    this.#parts = []
  }

  #isFull(): boolean {
    return this.#open.size >= CALL_COUNT_LIMIT
  }

  #expect(id: number, timer: NodeJS.Timeout | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject, timer }))
  }

  #expire(question: Question): void {
    const { id, asker } = question
    this.#waiting.remove(asker, question)
    if (this.#next === question) this.#next = undefined
    const call = this.#open.get(id)
    this.#open.delete(id)
    // One that the worker has keeps its turn: the worker cannot be told to stop, and answers one after the other.
    const message = `the question waited ${this.#limitMs / 1000} s for the store, which answers others or whose disk hangs; ask again later, or for less`
    call?.reject(new SondeError('STO_TIMEOUT', message))
  }

  #take(id: number): Call | undefined {
    if (id === this.#asked) this.#forgetAsked()
    const call = this.#open.get(id)
    clearTimeout(call?.timer)
    this.#open.delete(id)
    return call
  }
}

function busy(): SondeError {
  return new SondeError('STO_BUSY', `${CALL_COUNT_LIMIT} questions wait for an answer; ask again later`)
}

function hasLeft(): SondeError {
  return new SondeError('QRY_BUSY', 'the client left before its turn came')
}
