import { SondeError } from '@sonde/sdk'
import { type Asker, AskerQueue } from '@sonde/sdk/internal'
import { type AnswerPart, joinedAnswer } from './answer-parts.ts'
import type { StoredAnswer } from './protocol.ts'

const CALL_COUNT_LIMIT = 1000

interface Call {
  readonly resolve: (answer: StoredAnswer) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | undefined
}

/** A question that the worker has not received yet. */
export interface Question {
  readonly id: number
  /** The client that asks; undefined for this process. */
  readonly asker: Asker | undefined
  /** Sends it to the worker. */
  readonly send: (id: number) => void
  /** The last page that is written before it; undefined until its turn. */
  afterPage: number | undefined
}

/**
 * Questions to the worker without an answer yet. Questions wait here for their turn, and clients take turns. The worker
 * gets one question at a time; otherwise new records would wait for all questions.
 */
export class Calls {
  readonly #limitMs: number
  readonly #open = new Map<number, Call>()
  readonly #waiting = new AskerQueue<Question>()
  /** The question whose turn it is; it waits for pages only. */
  #next: Question | undefined
  #nextId = 0
  /** The question that the worker works on. */
  #asked: number | undefined
  /** Parts of its answer so far. */
  #parts: AnswerPart[] = []

  /** @param limitMs How long a question may wait for its answer. Unit: milliseconds. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /**
   * Adds a question to the queue.
   *
   * @throws SondeError `STO_BUSY` if too many wait, `STO_TIMEOUT` if it waited too long.
   */
  ask(send: (id: number) => void, asker?: Asker): Promise<StoredAnswer> {
    if (this.#isFull()) return Promise.reject(busy())
    const id = this.#nextId++
    const question: Question = { id, asker, send, afterPage: undefined }
    this.#waiting.add(asker, question)
    const timer = setTimeout(() => this.#expire(question), this.#limitMs).unref()
    return this.#expect(id, timer)
  }

  /**
   * Sends a question that needs no turn, and has no time limit.
   *
   * @throws SondeError `STO_BUSY`.
   */
  start(send: (id: number) => void): Promise<StoredAnswer> {
    if (this.#isFull()) return Promise.reject(busy())
    const id = this.#nextId++
    const answer = this.#expect(id, undefined)
    send(id)
    return answer
  }

  /** The question whose turn it is; undefined while the worker has a question. */
  get next(): Question | undefined {
    if (this.#asked !== undefined) return undefined
    while (this.#next === undefined || this.#next.asker?.isGone()) {
      if (this.#next !== undefined) this.reject(this.#next.id, hasLeft())
      this.#next = this.#waiting.next()
      if (this.#next === undefined) break
    }
    return this.#next
  }

  /** Sends the next question to the worker. */
  send(): void {
    const { next } = this
    if (next === undefined) return
    this.#next = undefined
    this.#asked = next.id
    next.send(next.id)
  }

  /** Adds a part of an answer; the answer itself comes last. */
  take(id: number, part: AnswerPart): void {
    if (id === this.#asked && this.#open.has(id)) this.#parts.push(part)
  }

  /** Resolves a question with its answer. */
  resolve(id: number, answer: StoredAnswer): void {
    const parts = id === this.#asked ? this.#parts : []
    const isPart = parts.length > 0 && answer !== undefined && 'results' in answer
    this.#take(id)?.resolve(isPart ? joinedAnswer(answer, parts) : answer)
  }

  /** Rejects a question that the worker refused. */
  reject(id: number, error: Error): void {
    this.#take(id)?.reject(error)
  }

  /** Rejects all open questions. */
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

  #expect(id: number, timer: NodeJS.Timeout | undefined): Promise<StoredAnswer> {
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject, timer }))
  }

  #expire(question: Question): void {
    const { id, asker } = question
    this.#waiting.remove(asker, question)
    if (this.#next === question) this.#next = undefined
    const call = this.#open.get(id)
    this.#open.delete(id)
    // A question that the worker has keeps its turn: the worker cannot be interrupted, and answers in order.
    const message = `the question waited ${this.#limitMs / 1000} s for the store, which is busy or whose disk hangs; try again later, or ask for less`
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
