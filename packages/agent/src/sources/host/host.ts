import { wallNs } from '@sonde/sdk'
import { deviceFilter } from '../device-filter.ts'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import type { NodeSource, Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type HOST_PARTS, type HostOptions, hostOptions } from './config.ts'
import { cpuPackages } from './cpu-packages.ts'
import { Disks } from './disks.ts'
import { hostExplain } from './explain.ts'
import { memoryErrors } from './memory-errors.ts'
import { Network } from './network.ts'
import { Numa } from './numa.ts'
import {
  type HostStat,
  parseFileNr,
  parseLoadavg,
  parseMeminfo,
  parsePressure,
  parseSoftnet,
  parseStat,
} from './parse.ts'
import { parseVmstat } from './parse-memory.ts'
import { parseLabel } from './parse-sysfs.ts'
import { type HostPart, HostReader } from './reader.ts'
import { sensors } from './sensors.ts'
import { thermalZones } from './thermal-zones.ts'
import {
  hostCpuPackageType,
  hostCpuType,
  hostDiskType,
  hostFanType,
  hostKernelType,
  hostLoadType,
  hostMemoryControllerType,
  hostMemoryModuleType,
  hostMemoryType,
  hostNetworkType,
  hostNumaType,
  hostPowerType,
  hostPressureType,
  hostSoftnetType,
  hostTemperatureType,
  hostThermalZoneType,
  hostVmType,
} from './type.ts'

type Part = (typeof HOST_PARTS)[number]
/** Parts that are one type each; the others have classes that know their types. */
type PlainPart = keyof typeof TYPES

const RESOURCES = ['cpu', 'memory', 'io', 'irq'] as const
const TYPES = {
  cpu: hostCpuType,
  memory: hostMemoryType,
  pressure: hostPressureType,
  softnet: hostSoftnetType,
  load: hostLoadType,
  kernel: hostKernelType,
  vm: hostVmType,
  disks: hostDiskType,
  network: hostNetworkType,
  numa: hostNumaType,
} as const

/** Parts of sysfs that move slowly, or are slow to read. */
const SLOW_PARTS = {
  sensors,
  thermal_zones: thermalZones,
  memory_errors: memoryErrors,
  cpu_packages: cpuPackages,
} as const
const SLOW_TYPES = [
  ...[hostTemperatureType, hostFanType, hostPowerType, hostThermalZoneType],
  ...[hostMemoryControllerType, hostMemoryModuleType, hostCpuPackageType],
]

/** The node as a whole: each part is one file of procfs, or has a class of its own. */
class HostSource implements NodeSource {
  readonly #context: SourceContext
  readonly #parts: ReadonlySet<Part>
  readonly #procfs: KernelFiles
  readonly #sysfs: KernelFiles
  readonly #files: Readonly<Record<FileName, KernelFile>>
  /** What is said of a whole type, by its part. */
  readonly #absences: Readonly<Record<PlainPart, FieldAbsences>>
  readonly #pressures: readonly { resource: string; file: KernelFile; absences: FieldAbsences }[]
  readonly #cpus: SeriesPresence
  readonly #softnetCpus: SeriesPresence
  readonly #reader: HostReader
  readonly #others: readonly HostPart[]

  constructor(options: HostOptions, context: SourceContext) {
    const procfs = new KernelFiles(context.paths.procfs)
    const sysfs = new KernelFiles(context.paths.sysfs)
    this.#context = context
    this.#parts = new Set(options.parts)
    this.#procfs = procfs
    this.#sysfs = sysfs
    this.#files = filesOf(procfs)
    this.#absences = Object.fromEntries(
      Object.entries(TYPES).map(([part, type]) => [part, new FieldAbsences(context.absences, type, undefined)]),
    ) as Record<PlainPart, FieldAbsences>
    this.#pressures = RESOURCES.map((resource) => ({
      resource,
      file: procfs.file('pressure', resource),
      absences: new FieldAbsences(context.absences, hostPressureType, { resource }),
    }))
    this.#cpus = new SeriesPresence(context.absences, hostCpuType, 'cpu')
    this.#softnetCpus = new SeriesPresence(context.absences, hostSoftnetType, 'cpu')
    this.#reader = new HostReader(context)
    const { disks, network, numa } = this.#absences
    const others: readonly (readonly [Part, HostPart])[] = [
      ['disks', new Disks(context, this.#reader, procfs.file('diskstats'), disks, deviceFilter(options.disks))],
      ['network', new Network(context, this.#reader, procfs, network)],
      ['numa', new Numa(context, this.#reader, sysfs, numa)],
      ...Object.entries(SLOW_PARTS).map(
        ([part, create]) => [part as Part, create(context, this.#reader, sysfs)] as const,
      ),
    ]
    this.#others = others.filter(([part]) => this.#parts.has(part)).map(([, each]) => each)
  }

  open(): void {
    // Each file is opened when it is first read.
  }

  probe(): Probe {
    const bytes = this.#files.stat.readAnew()
    if (bytes instanceof ReadFailure) return bytes.probe
    const count = parseStat(bytes).cpus.length
    return count > 0
      ? { state: 'present', found: `${count} CPUs` }
      : { state: 'absent', reason: `${this.#files.stat.path} lists no CPU` }
  }

  sample(): void {
    const time = wallNs()
    this.#reader.failure = undefined
    const stat = this.#readStat()
    let read = stat !== undefined
    if (stat !== undefined && this.#parts.has('cpu')) this.#reportCpus(time, stat)
    if (stat !== undefined && this.#parts.has('kernel')) this.#reportKernel(time, stat)
    if (this.#parts.has('memory')) read = this.#sampleMemory(time) || read
    if (this.#parts.has('pressure')) read = this.#samplePressure(time) || read
    if (this.#parts.has('softnet')) read = this.#sampleSoftnet(time, stat) || read
    if (this.#parts.has('load')) read = this.#sampleLoad(time) || read
    if (this.#parts.has('vm')) read = this.#sampleVm(time) || read
    for (const other of this.#others) read = other.sample(time) || read
    if (!read && this.#reader.failure !== undefined) throw this.#reader.failure
  }

  close(): void {
    this.#procfs.close()
    this.#sysfs.close()
  }

  /** `stat` also says which CPUs the lines of an old kernel's softnet_stat belong to. */
  #readStat(): HostStat | undefined {
    const wanted = (['cpu', 'kernel'] as const).filter((part) => this.#parts.has(part))
    if (wanted.length === 0 && !this.#parts.has('softnet')) return undefined
    const { stat: file } = this.#files
    const stat = this.#reader.read(
      file,
      wanted.map((part) => this.#absences[part]),
      (bytes) => {
        const parsed = parseStat(bytes)
        return parsed.cpus.length > 0 ? parsed : 'lists no CPU'
      },
    )
    if (stat?.malformed !== undefined) {
      this.#reader.wrong(file, `holds a line that cannot be read: ${JSON.stringify(stat.malformed)}`)
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
    const files = this.#reader.read(this.#files.fileNr, [], parseFileNr)
    const release = this.#reader.read(this.#files.osrelease, [], (bytes) => {
      const line = parseLabel(bytes)
      return line === undefined ? 'holds no release' : { release: line }
    })
    const record = { ...kernel, ...files, ...release }
    this.#absences.kernel.tell(record, `${this.#procfs.root} does not say`)
    this.#context.source.report(hostKernelType, { time, ...record })
  }

  #sampleMemory(time: bigint): boolean {
    const { meminfo: file } = this.#files
    const memory = this.#reader.read(file, [this.#absences.memory], parseMeminfo)
    if (memory === undefined) return false
    this.#absences.memory.tell(memory, `${file.path} does not say`)
    this.#context.source.report(hostMemoryType, { time, ...memory })
    return true
  }

  #samplePressure(time: bigint): boolean {
    let read = false
    for (const { resource, file, absences } of this.#pressures) {
      const pressure = this.#reader.read(file, [absences], parsePressure, pressureReason)
      if (pressure === undefined) continue
      absences.tell(pressure, `${file.path} does not say`)
      this.#context.source.report(hostPressureType, { time, resource, ...pressure })
      read = true
    }
    return read
  }

  #sampleSoftnet(time: bigint, stat: HostStat | undefined): boolean {
    const lines = this.#reader.read(this.#files.softnet, [this.#absences.softnet], (bytes) => {
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
    const load = this.#reader.read(this.#files.loadavg, [this.#absences.load], parseLoadavg)
    if (load === undefined) return false
    this.#context.source.report(hostLoadType, { time, ...load })
    return true
  }

  #sampleVm(time: bigint): boolean {
    const { vmstat: file } = this.#files
    const vm = this.#reader.read(file, [this.#absences.vm], parseVmstat)
    if (vm === undefined) return false
    this.#absences.vm.tell(vm, `${file.path} does not say`)
    this.#context.source.report(hostVmType, { time, ...vm })
    return true
  }
}

type FileName = 'stat' | 'meminfo' | 'softnet' | 'loadavg' | 'vmstat' | 'fileNr' | 'osrelease'

function filesOf(procfs: KernelFiles): Readonly<Record<FileName, KernelFile>> {
  return {
    stat: procfs.file('stat'),
    meminfo: procfs.file('meminfo'),
    softnet: procfs.file('net', 'softnet_stat'),
    loadavg: procfs.file('loadavg'),
    vmstat: procfs.file('vmstat'),
    fileNr: procfs.file('sys', 'fs', 'file-nr'),
    osrelease: procfs.file('sys', 'kernel', 'osrelease'),
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
  summary:
    'The node: CPUs, memory and its errors, pressure, load, disks, network stack, NUMA nodes, sensors, throttling',
  types: [...Object.values(TYPES), ...SLOW_TYPES],
  placement: 'inline',
  intervalMs: 1000,
  options: hostOptions,
  explain: hostExplain,
  create: (options, context) => new HostSource(options as HostOptions, context),
}
