import fs from 'node:fs'
import { wallNs } from '@sonde/sdk'
import type { FieldAbsences } from '../field-absences.ts'
import { failureKind, kernelErrorCode, OPEN_FLAGS } from '../kernel-file.ts'
import { hardwareIn, type KernelMessage, parseKernelLine } from './parse-kernel-log.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'
import { hostKernelLogType, hostKernelMessageType } from './type.ts'

/** The kernel refuses a read into less. Unit: bytes. */
const READ_BYTES = 16_384
/** Time that a turn reads at most, because the agent has other work. Unit: milliseconds. */
const TURN_MS = 4
/** Time between two turns, while there are further messages. Unit: milliseconds. */
const REST_MS = 10
/**
 * Turns of a sweep, enough for 10 000 messages a second. Policy: the kernel keeps further messages until it overwrites
 * them; then they are counted as lost.
 */
const TURNS_A_SWEEP = 20
/** Series that are kept. Policy: messages of further series are counted as `message_limit`. */
const SERIES_LIMIT = 256

/** Messages of one kind about one device. */
interface Counted extends Pick<KernelMessage, 'kind' | 'code' | 'device'> {
  count: number
  newest: string
  isReported: boolean
}

/** Counts messages of the kernel that name hardware. It reads only messages from after its start. */
class KernelLog implements HostPart {
  readonly #reader: HostReader
  readonly #path: string
  readonly #absences: FieldAbsences
  readonly #messages: FieldAbsences
  readonly #series = new Map<string, Counted>()
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  /** Clock of the messages. Unit: microseconds. */
  readonly #startUs = Number(process.hrtime.bigint() / 1000n)
  #descriptor = -1
  /** Number of the newest message; -1 before the first. */
  #sequence = -1
  #turnsLeft = 0
  #timer: NodeJS.Timeout | undefined
  /** The start of a line whose end was not read yet. */
  #rest = ''
  #readCount = 0
  #lostCount = 0
  #beforeNs = wallNs()

  constructor(reader: HostReader, path: string) {
    this.#reader = reader
    this.#path = path
    this.#absences = reader.absences(hostKernelLogType)
    this.#messages = reader.absences(hostKernelMessageType)
  }

  sample(time: bigint): boolean {
    if (!this.#open()) return false
    this.#turnsLeft = TURNS_A_SWEEP
    if (this.#timer === undefined) this.#turn()
    // The read may have failed.
    if (this.#descriptor === -1) return false
    for (const absences of [this.#absences, this.#messages]) absences.present('')
    const { source } = this.#reader.context
    source.report(hostKernelLogType, { time, messages_total: this.#readCount, lost_total: this.#lostCount })
    for (const counted of this.#series.values()) {
      const { count, kind, code, device, newest } = counted
      // Before there was none: with this record the first message is an increase.
      const none = { time: this.#beforeNs, kind, code, device, messages_total: 0 }
      if (!counted.isReported) source.report(hostKernelMessageType, none)
      counted.isReported = true
      source.report(hostKernelMessageType, { time, kind, code, device, messages_total: count, newest })
    }
    this.#beforeNs = time
    return true
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#descriptor !== -1) fs.closeSync(this.#descriptor)
    this.#descriptor = -1
    this.#rest = ''
  }

  #open(): boolean {
    if (this.#descriptor !== -1) return true
    try {
      this.#descriptor = fs.openSync(this.#path, OPEN_FLAGS)
    } catch (error) {
      this.#fail(error)
      return false
    }
    return true
  }

  #fail(error: unknown): void {
    const kind = failureKind(error)
    const reason =
      kind === 'denied'
        ? `${this.#path} may not be read: give the process CAP_SYSLOG, or set kernel.dmesg_restrict to 0`
        : `${this.#path} cannot be read: ${kernelErrorCode(error)}`
    for (const absences of [this.#absences, this.#messages])
      absences.absent('', kind === 'missing' ? 'unsupported' : kind, reason)
    this.close()
  }

  /** Reads for a short time, and again after a rest while there are further messages. */
  #turn(): void {
    this.#timer = undefined
    this.#turnsLeft--
    if (this.#read() && this.#turnsLeft > 0) this.#timer = setTimeout(() => this.#turn(), REST_MS).unref()
  }

  /** Returns whether there may be further messages. */
  #read(): boolean {
    const endMs = performance.now() + TURN_MS
    do {
      let length = 0
      try {
        length = fs.readSync(this.#descriptor, this.#buffer, 0, READ_BYTES, null)
      } catch (error) {
        const code = kernelErrorCode(error)
        // The kernel has overwritten messages that nobody read. The next read returns the oldest, whose number tells
        // how many are lost.
        if (code === 'EPIPE') continue
        if (code !== 'EAGAIN') this.#fail(error)
        return false
      }
      if (length === 0) return false
      const lines = (this.#rest + this.#buffer.toString('utf8', 0, length)).split('\n')
      this.#rest = (lines.pop() ?? '').slice(0, READ_BYTES)
      for (const line of lines) this.#take(line)
    } while (performance.now() < endMs)
    return true
  }

  #take(text: string): void {
    const line = parseKernelLine(text)
    // A file that was opened again starts with messages that were read before.
    if (line === undefined || line.sequence <= this.#sequence) return
    const missed = this.#sequence === -1 ? 0 : line.sequence - this.#sequence - 1
    this.#sequence = line.sequence
    if (line.timeUs < this.#startUs) return
    this.#lostCount += missed
    this.#readCount++
    const message = hardwareIn(line)
    if (message === undefined) return
    const { kind, code, device, words } = message
    const key = `${kind} ${code} ${device}`
    const known = this.#series.get(key)
    if (known !== undefined) {
      known.count++
      known.newest = words
      return
    }
    if (this.#series.size >= SERIES_LIMIT) {
      this.#reader.context.dropped('message_limit', 1)
      return
    }
    this.#series.set(key, { kind, code, device, count: 1, newest: words, isReported: false })
  }
}

/** Messages of the kernel about hardware. */
export const kernelLog: HostPartDefinition = {
  types: [hostKernelLogType, hostKernelMessageType],
  create: (reader, { kernel_log: path }) => new KernelLog(reader, path),
}
