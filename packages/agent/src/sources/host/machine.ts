import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { Missing } from '../field-absences.ts'
import { parseLabel } from './parse-sysfs.ts'
import type { HostPartDefinition } from './part.ts'
import { hostMachineType } from './type.ts'

/** Files of `/sys/class/dmi/id`, which the firmware fills. Serial numbers are left out. */
const DMI = [
  ['vendor', 'sys_vendor'],
  ['product', 'product_name'],
  ['board', 'board_name'],
  ['firmware_version', 'bios_version'],
  ['firmware_date', 'bios_date'],
] as const
/** Names that vendors leave in the firmware of a board that somebody else should have filled. */
const UNFILLED =
  /^(to be filled by o\.?e\.?m\.?|default string|system product name|not specified|none|n\/a|0123456789)$/i
/** The name of the system and the model of the processor change with an upgrade at most. */
const SWEEPS_PER_LOOK = 600
const START_BYTES = 4096
const OS_FILES = ['etc/os-release', 'usr/lib/os-release'] as const

/** Operating system, processor and board. */
export const machine: HostPartDefinition = {
  types: [hostMachineType],
  create(reader, { root_folder }) {
    const attributes = reader.attributes(hostMachineType)
    const { absences } = attributes
    const cpuinfo = join(reader.procfs.root, 'cpuinfo')
    const files = DMI.map(([field, name]) => [field, reader.sysfs.file('class', 'dmi', 'id', name)] as const)
    let os: string | Missing
    let cpu_model: string | Missing
    let sweep = 0
    return {
      sample(time) {
        const stat = absences.settle('', reader.stat.at(time))
        if (stat === undefined) return false
        if (sweep++ % SWEEPS_PER_LOOK === 0) {
          os = osIn(root_folder)
          cpu_model = modelIn(cpuinfo)
        }
        const firmware = files.map(([field, file]) => [field, attributes.read(field, file, parseName)] as const)
        reader.context.source.report(hostMachineType, {
          ...{ time, cpus: stat.cpus.length, ...Object.fromEntries(firmware) },
          ...{ os: absences.settle('os', os), cpu_model: absences.settle('cpu_model', cpu_model) },
        })
        return true
      },
    }
  },
}

/** Leaves out words that mean that nobody has filled in the name. */
function parseName(bytes: Uint8Array): string | Missing | undefined {
  const name = parseLabel(bytes)
  if (name === undefined || !UNFILLED.test(name)) return name
  return new Missing('unsupported', `the firmware says only ${JSON.stringify(name)}`)
}

/** The name of the system in `os-release`, whose values are quoted as in a shell. */
function osIn(root: string): string | Missing {
  for (const file of OS_FILES) {
    const [, quoted, bare] = /^PRETTY_NAME=(?:"([^"\n]*)"|([^\s"]+))\s*$/m.exec(startOf(join(root, file))) ?? []
    const os = parseLabel(Buffer.from(quoted ?? bare ?? ''))
    if (os !== undefined) return os
  }
  return new Missing('unsupported', `${join(root, OS_FILES[0])} does not name the system`)
}

/** On x86 the kernel names the model of each CPU; on arm64 it has only numbers of it. */
function modelIn(path: string): string | Missing {
  const [, model] = /^model name\s*:\s*(.+)$/m.exec(startOf(path)) ?? []
  return parseLabel(Buffer.from(model ?? '', 'latin1')) ?? new Missing('unsupported', `${path} names no model`)
}

/**
 * The start of a file; empty if it cannot be read. The kernel takes milliseconds for all of `cpuinfo` with hundreds of
 * CPUs. Never waits for a writer.
 */
function startOf(path: string): string {
  const start = Buffer.alloc(START_BYTES)
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return start.toString('latin1', 0, readSync(descriptor, start))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ''
  }
}
