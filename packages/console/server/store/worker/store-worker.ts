import { existsSync, statSync } from 'node:fs'
import { SondeError } from '@sonde/sdk'
import { type FileLock, messageOf } from '@sonde/sdk/internal'
import { type ParcelledAnswer, parcelled } from '../answer-parts.ts'
import type { FileStatus, FromWorker, StoredAnswer, StorePage, ToWorker, WorkerStart, Written } from '../protocol.ts'
import { lockDatabase, type Opened, openDatabase, replaceDatabase } from './database.ts'
import { listTypes } from './list-types.ts'
import { maintain } from './maintenance.ts'
import { query } from './query.ts'
import { readStored } from './read-stored.ts'
import { failureSentence, sqliteFailureOf } from './sqlite-error.ts'
import { StoreFile } from './store-file.ts'
import { UpkeepShare } from './upkeep-share.ts'
import { WritingTime } from './writing-time.ts'

const RETRY_MS = 1000
const STATUS_MS = 1000
const MAINTAIN_MS = 10_000
/** The same if the backlog is full. */
const MAINTAIN_FULL_MS = 1000
/** The part of the file that records may take before they are compacted. */
const BACKLOG_PART = 1 / 5

/**
 * Opens the file and keeps it open. Every failure is handled in the same way: the file is closed, opened again a second
 * later, and the main thread sends everything without acknowledgement again. So no incomplete state remains.
 */
export class StoreWorker {
  readonly #start: WorkerStart
  readonly #send: (message: FromWorker) => void
  readonly #nextMessage: () => ToWorker | undefined
  /** Messages other than pages that came during a question. */
  readonly #postponed: ToWorker[] = []
  #isAnswering = false
  /** The answer that is being sent in parts; there is one question at a time. */
  #parcelled: ParcelledAnswer | undefined
  readonly #timers: NodeJS.Timeout[] = []
  #retry: NodeJS.Timeout | undefined
  #lock: FileLock | undefined
  #file: StoreFile | undefined
  #opening = 0
  /** The last page that was written, even if the file forgot it. */
  #sequence = 0
  /** Id of a page that failed for a reason other than the disk. If it fails again, it is dropped. */
  #refusedPage = 0
  #failure = ''
  #notice = ''
  #damage = ''
  #errors = 0
  #corruptChunks = 0
  #bytes = 0
  #upkeep: Generator<undefined, void> | undefined
  readonly #share: UpkeepShare
  readonly #writing = new WritingTime()
  #nextTurn: NodeJS.Timeout | undefined
  /** Times of the last status message and of the last start of upkeep. */
  #toldMs = 0
  #maintainedMs = performance.now()
  #waiting: number[] = []

  /**
   * @param nextMessage Takes the next waiting message, so that pages are written in the middle of a long question.
   * Default: takes none.
   */
  constructor(
    start: WorkerStart,
    send: (message: FromWorker) => void,
    nextMessage: () => ToWorker | undefined = () => undefined,
  ) {
    this.#start = start
    this.#share = new UpkeepShare(start.settings.maxBytes * BACKLOG_PART)
    this.#send = send
    this.#nextMessage = nextMessage
  }

  start(): void {
    this.#open()
    this.#timers.push(
      setInterval(() => this.#tell(), STATUS_MS),
      setInterval(() => this.#maintain(), MAINTAIN_MS),
    )
  }

  receive(message: ToWorker): void {
    for (let next: ToWorker | undefined = message; next !== undefined; next = this.#postponed.shift()) {
      this.#handle(next)
    }
  }

  #handle(message: ToWorker): void {
    switch (message.kind) {
      case 'page':
        this.#write(message)
        this.#catchUp()
        break
      case 'query':
        this.#answer(message.id, message.request, query)
        break
      case 'records':
        this.#answer(message.id, message.request, readStored)
        break
      case 'types':
        this.#answer(message.id, message.request, listTypes)
        break
      case 'more':
        this.#sendMore(message.id)
        break
      case 'maintain':
        this.#waiting.push(message.id)
        this.#maintain()
        break
      case 'close':
        this.#close()
    }
  }

  /** The work of timers: while pages keep coming, timers get no turn. */
  #catchUp(): void {
    const nowMs = performance.now()
    this.#share.pageWritten(nowMs)
    if (nowMs - this.#toldMs >= STATUS_MS) this.#tell()
    const everyMs = this.#share.isFull(this.#backlogBytes) ? MAINTAIN_FULL_MS : MAINTAIN_MS
    if (this.#upkeep !== undefined) this.#turn(this.#upkeep)
    else if (nowMs - this.#maintainedMs >= everyMs) this.#maintain()
  }

  #open(): void {
    const { settings, session } = this.#start
    this.#closeFile()
    this.#failure = ''
    try {
      this.#lock ??= lockDatabase(settings.path)
      const { database, notice } = this.#openDatabase()
      this.#damage = ''
      this.#file = new StoreFile(database, settings, this.#breathe)
      const lost = this.#file.prepareToWrite()
      this.#notice = [notice, lost].filter((sentence) => sentence !== '').join('; ') || this.#notice
      this.#sequence = Math.max(this.#sequence, this.#file.lastSequence(session))
      const clients = this.#file.clients.all
      this.#send({ kind: 'opened', opening: ++this.#opening, sequence: this.#sequence, clients })
    } catch (error) {
      if (
        error instanceof SondeError &&
        error.code === 'STO_LOCKED' &&
        this.#start.whenLocked === 'refuse' &&
        this.#opening === 0
      ) {
        this.#send({ kind: 'refused', code: error.code, message: error.message })
        return
      }
      this.#fail(error)
    }
    this.#tell()
  }

  #openDatabase(): Opened {
    const { settings } = this.#start
    return this.#damage === '' ? openDatabase(settings) : replaceDatabase(settings, this.#damage)
  }

  /** Called repeatedly while a question is read, so that new records still reach the disk. */
  readonly #breathe = (): void => {
    if (!this.#isAnswering) return
    for (let message = this.#nextMessage(); message !== undefined; message = this.#nextMessage()) {
      if (message.kind === 'page') this.#write(message)
      else this.#postponed.push(message)
    }
  }

  #write({ page, announcement, opening }: Extract<ToWorker, { kind: 'page' }>): void {
    const file = this.#file
    // A page that was sent for an earlier opening, or came after a failure, is sent again once the file is open.
    if (opening !== this.#opening || this.#failure !== '' || file === undefined) return
    try {
      const isRefused = page.id === this.#refusedPage
      const wanted = isRefused ? { ...page, entries: [] } : page
      const written = this.#writing.of(() => file.write(wanted, announcement, this.#start.session))
      this.#sequence = page.sequence
      this.#send({ kind: 'acked', sequence: page.sequence, ...written, ...(isRefused && allDropped(page)) })
    } catch (error) {
      if (sqliteFailureOf(error) === undefined) this.#refusedPage = page.id
      this.#fail(error)
    }
  }

  #answer<R>(id: number, request: R, read: (file: StoreFile, request: R) => StoredAnswer): void {
    if (this.#file === undefined) {
      this.#send({
        kind: 'failed',
        id,
        code: 'STO_UNAVAILABLE',
        message: `the store has no file to read: ${this.#failure}`,
      })
      return
    }
    try {
      this.#isAnswering = true
      const { corruptChunks } = this.#file
      const result = read(this.#file, request)
      if (this.#file.corruptChunks > corruptChunks) this.#tell()
      this.#sendAnswer(id, result)
    } catch (error) {
      this.#refuse(id, error)
    } finally {
      this.#isAnswering = false
    }
  }

  #sendAnswer(id: number, result: StoredAnswer): void {
    const large = result !== undefined && 'results' in result ? parcelled(result) : undefined
    this.#parcelled = large
    if (large === undefined) this.#send({ kind: 'answer', id, result })
    else this.#sendMore(id)
  }

  /** The next part of the answer, or the end after the last part. */
  #sendMore(id: number): void {
    const { parts, rest } = this.#parcelled ?? {}
    if (rest === undefined) return
    const next = parts?.next()
    if (next?.value !== undefined) {
      this.#send({ kind: 'part', id, part: next.value })
      return
    }
    this.#parcelled = undefined
    this.#send({ kind: 'answer', id, result: rest })
  }

  /**
   * A failed question closes the file only if the file is the reason. A fault of the question, or of Sonde, affects
   * nothing else.
   */
  #refuse(id: number, error: unknown): void {
    if (error instanceof SondeError) {
      this.#send({ kind: 'failed', id, code: error.code, message: error.message })
      return
    }
    this.#send({ kind: 'failed', id, code: 'STO_READ', message: `history could not be read: ${messageOf(error)}` })
    if (sqliteFailureOf(error) !== undefined) {
      this.#fail(error)
      return
    }
    this.#errors++
    this.#tell()
  }

  /** Starts due work unless it already runs, and answers the waiting callers at its end. */
  #maintain(): void {
    if (this.#file === undefined || this.#failure !== '' || this.#upkeep !== undefined) return
    this.#maintainedMs = performance.now()
    this.#upkeep = maintain(this.#file, Date.now())
    this.#turn(this.#upkeep)
  }

  #turn(upkeep: Generator<undefined, void>): void {
    if (upkeep !== this.#upkeep) return
    const startMs = performance.now()
    const turnMs = this.#share.turnMs(startMs, this.#backlogBytes, this.#waiting.length > 0)
    try {
      while (performance.now() < startMs + turnMs) {
        if (upkeep.next().done !== true) continue
        this.#upkeep = undefined
        const ended = this.#file?.endedMetrics.take()
        if (ended !== undefined) this.#send({ kind: 'ended', ended })
        this.#tell()
        for (const id of this.#waiting.splice(0)) this.#send({ kind: 'answer', id, result: undefined })
        return
      }
    } catch (error) {
      this.#fail(error)
      return
    }
    if (turnMs > 0) this.#share.took(performance.now() - startMs)
    clearTimeout(this.#nextTurn)
    const waitMs = turnMs > 0 ? 0 : this.#share.quietMs(this.#backlogBytes)
    this.#nextTurn = setTimeout(() => this.#turn(upkeep), waitMs)
  }

  /** After any failure the file is opened again after a pause. Until then it can be read, unless it is damaged. */
  #fail(error: unknown): void {
    const isFirst = this.#failure === ''
    this.#errors++
    this.#failure = failureSentence(error, this.#start.settings)
    this.#upkeep = undefined
    if (sqliteFailureOf(error) === 'damaged') {
      this.#damage = messageOf(error)
      this.#closeFile()
    }
    for (const id of this.#waiting.splice(0)) {
      this.#send({ kind: 'failed', id, code: 'STO_UNAVAILABLE', message: this.#failure })
    }
    this.#tell()
    // A failed read changes nothing while the file waits to be opened again.
    if (isFirst) this.#retry = setTimeout(() => this.#open(), RETRY_MS)
  }

  #closeFile(): void {
    this.#upkeep = undefined
    this.#corruptChunks += this.#file?.corruptChunks ?? 0
    const file = this.#file
    this.#file = undefined
    file?.close()
  }

  #close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#retry)
    this.#closeFile()
    this.#lock?.close()
    this.#send({ kind: 'closed' })
  }

  #tell(): void {
    this.#toldMs = performance.now()
    try {
      const file = this.#file
      if (this.#failure === '' && file !== undefined && !(existsSync(this.#start.settings.path) && file.head.isThere)) {
        throw new SondeError('STO_GONE', `${this.#start.settings.path} was removed; a new file is created`)
      }
      this.#send({ kind: 'status', status: this.#status() })
    } catch (error) {
      // Without a file nothing else can fail, so this loop ends.
      this.#closeFile()
      this.#fail(error)
    }
  }

  get #backlogBytes(): number {
    return this.#file?.head.bytes ?? 0
  }

  #status(): FileStatus {
    const file = this.#file
    if (file !== undefined) this.#bytes = sizeOf(this.#start.settings.path) + file.head.fileBytes
    const state = this.#failure === '' ? 'writing' : 'failing'
    return {
      state,
      reason: state === 'failing' ? this.#failure : (file?.crowdedSentence ?? this.#notice),
      bytes: this.#bytes,
      freeBytes: file?.freeBytes() ?? 0,
      oldestMs: file?.oldestMs() ?? null,
      corruptChunks: this.#corruptChunks + (file?.corruptChunks ?? 0),
      errors: this.#errors,
      backlogBytes: this.#backlogBytes,
      processorPart: this.#writing.takePart(),
      names: file?.names() ?? {},
    }
  }
}

/** Size of the file and its write-ahead log. Unit: bytes. */
function sizeOf(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0), 0)
}

function allDropped({ entries }: StorePage): Pick<Written, 'dropped' | 'lost'> {
  const lost = entries.flatMap(({ page, count }): Written['lost'] => (page === undefined ? [] : [[page, count]]))
  return { dropped: [['failed', entries.reduce((sum, { count }) => sum + count, 0)]], lost }
}
