import { SondeError, wallNs } from '@sonde/sdk'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import type { NodeSource, Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type HOST_PARTS, type HostOptions, hostOptions } from './config.ts'
import { hostExplain } from './explain.ts'
import { type HostStat, parseLoadavg, parseMeminfo, parsePressure, parseSoftnet, parseStat } from './parse.ts'
import { hostCpuType, hostKernelType, hostLoadType, hostMemoryType, hostPressureType, hostSoftnetType } from './type.ts'

type Part = (typeof HOST_PARTS)[number]

/** What a file holds, or what is wrong with it: the end of a sentence that starts with its path. */
type Parse<T extends object> = (bytes: Uint8Array) => T | string

const RESOURCES = ['cpu', 'memory', 'io', 'irq'] as const

/** The node as a whole: CPUs, memory, pressure, the receive path and the load, each one file of procfs. */
class HostSource implements NodeSource {
  readonly #context: SourceContext
  readonly #parts: ReadonlySet<Part>
  readonly #procfs: KernelFiles
  readonly #files: Readonly<Record<'stat' | 'meminfo' | 'softnet' | 'loadavg', KernelFile>>
  readonly #absences: Readonly<Record<Exclude<Part, 'pressure'>, FieldAbsences>>
  readonly #pressures: readonly { resource: string; file: KernelFile; absences: FieldAbsences }[]
  readonly #cpus: SeriesPresence
  readonly #softnetCpus: SeriesPresence
  /** The first failure of this sweep; what it throws when nothing at all was read. */
  #failure: Error | undefined

  constructor(options: HostOptions, context: SourceContext) {
    const procfs = new KernelFiles(context.paths.procfs)
    const { absences } = context
    this.#context = context
    this.#parts = new Set(options.parts)
    this.#procfs = procfs
    this.#files = {
      stat: procfs.file('stat'),
      meminfo: procfs.file('meminfo'),
      softnet: procfs.file('net', 'softnet_stat'),
      loadavg: procfs.file('loadavg'),
    }
    this.#absences = {
      cpu: new FieldAbsences(absences, hostCpuType, undefined),
      memory: new FieldAbsences(absences, hostMemoryType, undefined),
      softnet: new FieldAbsences(absences, hostSoftnetType, undefined),
      load: new FieldAbsences(absences, hostLoadType, undefined),
      kernel: new FieldAbsences(absences, hostKernelType, undefined),
    }
    this.#pressures = RESOURCES.map((resource) => ({
      resource,
      file: procfs.file('pressure', resource),
      absences: new FieldAbsences(absences, hostPressureType, { resource }),
    }))
    this.#cpus = new SeriesPresence(absences, hostCpuType, 'cpu')
    this.#softnetCpus = new SeriesPresence(absences, hostSoftnetType, 'cpu')
  }

  open(): void {
    // Each file is opened when it is first read.
  }

  probe(): Probe {
    const bytes = this.#files.stat.readAnew()
    if (bytes instanceof ReadFailure) {
      return { state: bytes.kind === 'denied' ? 'denied' : 'absent', reason: bytes.error.message }
    }
    const count = parseStat(bytes).cpus.length
    return count > 0
      ? { state: 'present', found: `${count} CPUs` }
      : { state: 'absent', reason: `${this.#files.stat.path} lists no CPU` }
  }

  sample(): void {
    const time = wallNs()
    this.#failure = undefined
    const stat = this.#readStat()
    let read = stat !== undefined
    if (stat !== undefined && this.#parts.has('cpu')) this.#reportCpus(time, stat)
    if (stat !== undefined && this.#parts.has('kernel')) this.#reportKernel(time, stat)
    if (this.#parts.has('memory')) read = this.#sampleMemory(time) || read
    if (this.#parts.has('pressure')) read = this.#samplePressure(time) || read
    if (this.#parts.has('softnet')) read = this.#sampleSoftnet(time, stat) || read
    if (this.#parts.has('load')) read = this.#sampleLoad(time) || read
    if (!read && this.#failure !== undefined) throw this.#failure
  }

  close(): void {
    this.#procfs.close()
  }

  /** `stat` also says which CPUs the lines of an old kernel's softnet_stat belong to. */
  #readStat(): HostStat | undefined {
    const wanted = (['cpu', 'kernel'] as const).filter((part) => this.#parts.has(part))
    if (wanted.length === 0 && !this.#parts.has('softnet')) return undefined
    const { stat: file } = this.#files
    const stat = this.#read(
      file,
      wanted.map((part) => this.#absences[part]),
      (bytes) => {
        const parsed = parseStat(bytes)
        return parsed.cpus.length > 0 ? parsed : 'lists no CPU'
      },
    )
    if (stat?.malformed !== undefined) {
      const line = JSON.stringify(stat.malformed)
      this.#context.failed(
        file.path,
        new SondeError('SRC_READ', `${file.path} holds a line that cannot be read: ${line}`),
      )
    }
    return stat
  }

  #reportCpus(time: bigint, { cpus, malformed }: HostStat): void {
    this.#cpus.startSweep()
    for (const times of cpus) {
      if (this.#cpus.met(times.cpu)) this.#context.source.report(hostCpuType, { time, ...times })
    }
    // A line that could not be read may be that of a CPU which is still there.
    if (malformed === undefined) this.#cpus.endSweep('the CPU is offline')
  }

  #reportKernel(time: bigint, { kernel }: HostStat): void {
    this.#absences.kernel.tell(kernel, `${this.#files.stat.path} does not say`)
    this.#context.source.report(hostKernelType, { time, ...kernel })
  }

  #sampleMemory(time: bigint): boolean {
    const { meminfo: file } = this.#files
    const memory = this.#read(file, [this.#absences.memory], parseMeminfo)
    if (memory === undefined) return false
    this.#absences.memory.tell(memory, `${file.path} does not say`)
    this.#context.source.report(hostMemoryType, { time, ...memory })
    return true
  }

  #samplePressure(time: bigint): boolean {
    let read = false
    for (const { resource, file, absences } of this.#pressures) {
      const pressure = this.#read(file, [absences], parsePressure, pressureReason)
      if (pressure === undefined) continue
      absences.tell(pressure, `${file.path} does not say`)
      this.#context.source.report(hostPressureType, { time, resource, ...pressure })
      read = true
    }
    return read
  }

  #sampleSoftnet(time: bigint, stat: HostStat | undefined): boolean {
    const lines = this.#read(this.#files.softnet, [this.#absences.softnet], (bytes) => {
      const parsed = parseSoftnet(bytes)
      if (typeof parsed === 'string' || parsed.every(({ cpu }) => cpu !== undefined)) return parsed
      if (stat?.cpus.length !== parsed.length) return 'does not say which CPU a line belongs to'
      return parsed.map((line, index) => ({ ...line, cpu: stat.cpus[index]?.cpu }))
    })
    if (lines === undefined) return false
    this.#softnetCpus.startSweep()
    for (const { cpu, ...totals } of lines) {
      if (cpu === undefined || !this.#softnetCpus.met(cpu)) continue
      this.#context.source.report(hostSoftnetType, { time, cpu, ...totals })
    }
    this.#softnetCpus.endSweep('the CPU is offline')
    return true
  }

  #sampleLoad(time: bigint): boolean {
    const load = this.#read(this.#files.loadavg, [this.#absences.load], parseLoadavg)
    if (load === undefined) return false
    this.#context.source.report(hostLoadType, { time, ...load })
    return true
  }

  /** What a file holds; where it gives nothing, the absences of what is made of it say why. */
  #read<T extends object>(
    file: KernelFile,
    absences: readonly FieldAbsences[],
    parse: Parse<T>,
    explain: (failure: ReadFailure, file: KernelFile) => string = ({ error }) => error.message,
  ): T | undefined {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.#failure ??= bytes.error
      if (bytes.kind === 'failed') this.#context.failed(file.path, bytes.error)
      for (const each of absences) each.absent('', bytes.code, explain(bytes, file))
      return undefined
    }
    const parsed = parse(bytes)
    if (typeof parsed === 'string') {
      const error = new SondeError('SRC_READ', `${file.path} ${parsed}`)
      this.#failure ??= error
      this.#context.failed(file.path, error)
      for (const each of absences) each.absent('', 'failed', error.message)
      return undefined
    }
    for (const each of absences) each.present('')
    return parsed
  }
}

/** EOPNOTSUPP is what a kernel answers that was built with PSI and started without. */
function pressureReason({ kind, error }: ReadFailure, file: KernelFile): string {
  if (kind === 'missing') return `${file.path} is not there: this kernel does not keep that pressure`
  if (kind === 'unsupported') return 'the kernel was started without pressure stall information; psi=1 turns it on'
  return error.message
}

/** Registry row of the host source. */
export const host: SourceDefinition = {
  name: 'host',
  summary: 'The node: CPUs, memory, pressure, receive path, load',
  types: [hostCpuType, hostMemoryType, hostPressureType, hostSoftnetType, hostLoadType, hostKernelType],
  placement: 'inline',
  intervalMs: 1000,
  options: hostOptions,
  explain: hostExplain,
  create: (options, context) => new HostSource(options as HostOptions, context),
}
