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
/** Messages that a sweep reads; the kernel keeps the others for the next sweep. */
const READS_A_SWEEP = 500
/** Time that a sweep reads at most, because the agent has other work. Unit: milliseconds. */
const TURN_MS = 4
/** Series that are kept. Policy: messages of further series are counted as `message_limit`. */
const SERIES_LIMIT = 256

/** Messages of one kind about one device. */
interface Counted extends Pick<KernelMessage, 'kind' | 'code' | 'device'> {
  count: number
  newest: string
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
    this.#read()
    const { source } = this.#reader.context
    source.report(hostKernelLogType, { time, messages_total: this.#readCount, lost_total: this.#lostCount })
    for (const { count, kind, code, device, newest } of this.#series.values())
      source.report(hostKernelMessageType, { time, kind, code, device, messages_total: count, newest })
    this.#beforeNs = time
    return true
  }

  close(): void {
    if (this.#descriptor !== -1) fs.closeSync(this.#descriptor)
    this.#descriptor = -1
  }

  #open(): boolean {
    if (this.#descriptor !== -1) return true
    try {
      this.#descriptor = fs.openSync(this.#path, OPEN_FLAGS)
    } catch (error) {
      const kind = failureKind(error)
      const reason =
        kind === 'denied'
          ? `${this.#path} may not be read: give the process CAP_SYSLOG, or set kernel.dmesg_restrict to 0`
          : `${this.#path} cannot be read: ${kernelErrorCode(error)}`
      for (const absences of [this.#absences, this.#messages])
        absences.absent('', kind === 'missing' ? 'unsupported' : kind, reason)
      return false
    }
    this.#absences.present('')
    this.#messages.present('')
    return true
  }

  #read(): void {
    const endMs = performance.now() + TURN_MS
    for (let left = READS_A_SWEEP; left > 0 && performance.now() < endMs; left--) {
      let length = 0
      try {
        length = fs.readSync(this.#descriptor, this.#buffer, 0, READ_BYTES, null)
      } catch (error) {
        const code = kernelErrorCode(error)
        // The kernel has overwritten messages that nobody read; the next read goes on with the oldest.
        if (code === 'EPIPE') {
          this.#lostCount++
          continue
        }
        if (code !== 'EAGAIN') this.close()
        return
      }
      if (length === 0) return
      const lines = (this.#rest + this.#buffer.toString('utf8', 0, length)).split('\n')
      this.#rest = (lines.pop() ?? '').slice(0, READ_BYTES)
      for (const line of lines) this.#take(line)
    }
  }

  #take(text: string): void {
    const line = parseKernelLine(text)
    if (line === undefined || line.timeUs < this.#startUs) return
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
    this.#series.set(key, { kind, code, device, count: 1, newest: words })
    // Until now there was none: with this record the first message is an increase.
    const none = { time: this.#beforeNs, messages_total: 0 }
    this.#reader.context.source.report(hostKernelMessageType, { ...none, kind, code, device })
  }
}

/** Messages of the kernel about hardware. */
export const kernelLog: HostPartDefinition = {
  types: [hostKernelLogType, hostKernelMessageType],
  create: (reader, { kernel_log: path }) => new KernelLog(reader, path),
}
