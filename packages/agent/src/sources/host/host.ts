import { join } from 'node:path'
import { wallNs } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { ReadFailure } from '../kernel-file.ts'
import { PodNames } from '../processes/pod-names.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { cgroupPressure } from './cgroup-pressure.ts'
import { clock } from './clock.ts'
import { HOST_PARTS, type HostSourceOptions, hostOptions } from './config.ts'
import { cpu } from './cpu.ts'
import { cpuPackages } from './cpu-packages.ts'
import { disks } from './disks.ts'
import { hostExplain } from './explain.ts'
import { filesystems } from './filesystems.ts'
import { kernel } from './kernel.ts'
import { kernelLog } from './kernel-log.ts'
import { load } from './load.ts'
import { machine } from './machine.ts'
import { memory } from './memory.ts'
import { memoryErrors } from './memory-errors.ts'
import { network } from './network.ts'
import { numa } from './numa.ts'
import { parseStat } from './parse.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import { pressure } from './pressure.ts'
import { HostReader } from './reader.ts'
import { sensors } from './sensors.ts'
import { sockets } from './sockets.ts'
import { softnet } from './softnet.ts'
import { systemd } from './systemd.ts'
import { thermalZones } from './thermal-zones.ts'
import { vm } from './vm.ts'

const PARTS: Readonly<Record<(typeof HOST_PARTS)[number], HostPartDefinition>> = {
  cpu,
  memory,
  pressure,
  cgroup_pressure: cgroupPressure,
  softnet,
  load,
  kernel,
  vm,
  disks,
  network,
  sockets,
  filesystems,
  machine,
  clock,
  systemd,
  kernel_log: kernelLog,
  numa,
  sensors,
  thermal_zones: thermalZones,
  memory_errors: memoryErrors,
  cpu_packages: cpuPackages,
}

/** The whole node, part by part. */
class HostSource implements SampledSource {
  readonly #reader: HostReader
  readonly #parts: readonly HostPart[]
  readonly #names: PodNames

  constructor(options: HostSourceOptions, context: SourceContext) {
    const reader = new HostReader(context)
    this.#reader = reader
    this.#names = new PodNames(join(options.root_folder, 'var', 'log'), () => performance.now())
    this.#parts = HOST_PARTS.filter((part) => options.parts.includes(part)).map((part) =>
      PARTS[part].create(reader, options, this.#names),
    )
  }

  probe(): Probe {
    const { file } = this.#reader.stat
    const bytes = file.readAnew()
    if (bytes instanceof ReadFailure) return bytes.probe
    const count = parseStat(bytes).cpus.length
    return count > 0
      ? { state: 'present', found: countOf(count, 'CPU') }
      : { state: 'absent', reason: `${file.path} lists no CPU` }
  }

  sample(): void {
    const time = wallNs()
    this.#reader.failure = undefined
    let read = false
    for (const part of this.#parts) read = part.sample(time) || read
    if (!read && this.#reader.failure !== undefined) throw this.#reader.failure
  }

  /**
   * Takes the names of pods.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  command(command: unknown): object {
    this.#names.take(command)
    return {}
  }

  close(): void {
    for (const part of this.#parts) part.close?.()
    this.#reader.close()
  }
}

/** Registry row of the host source. */
export const host: SourceDefinition = {
  name: 'host',
  summary:
    'The node: CPUs, memory and its errors, pressure, load, disks, file systems, network stack, NUMA nodes, sensors',
  types: Object.values(PARTS).flatMap(({ types }) => types),
  host: 'agent',
  intervalMs: 1000,
  takesPodNames: true,
  options: hostOptions,
  explain: hostExplain,
  load: async () => ({
    create: (options, context) => sampled(new HostSource(options as HostSourceOptions, context), context),
  }),
}
