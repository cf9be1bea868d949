import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Missing } from '../field-absences.ts'
import type { HostPartDefinition } from './part.ts'
import { Program } from './program.ts'
import { hostFailedUnitType, hostSystemdType } from './type.ts'

const EVERY_MS = 30_000
const AFTER_MS = 10_000
const LIMIT_MS = 10_000
/** Failed units that are named; the number counts all. */
const UNIT_LIMIT = 64
/** Long enough for every name that systemd accepts; a longer description is cut. Unit: characters. */
const NAME_LIMIT = 256
/** Exists only while systemd is the first process. */
const SYSTEMD = 'run/systemd/system'
const ARGUMENTS = ['list-units', '--failed', '--all', '--plain', '--full', '--no-legend', '--no-pager']

/** A unit that failed. */
interface FailedUnit {
  readonly unit: string
  readonly description: string
}

/** Units of systemd that failed. */
export const systemd: HostPartDefinition = {
  types: [hostSystemdType, hostFailedUnitType],
  create(reader, { root_folder, systemctl }) {
    const { context } = reader
    const [count, each] = [reader.absences(hostSystemdType), reader.absences(hostFailedUnitType)]
    const missing = existsSync(join(root_folder, SYSTEMD))
      ? undefined
      : new Missing('unsupported', `systemd does not run here: ${join(root_folder, SYSTEMD)} is not there`)
    const program = new Program(
      { file: systemctl, args: ARGUMENTS, everyMs: EVERY_MS, afterMs: AFTER_MS, limitMs: LIMIT_MS },
      parseUnits,
    )
    let named = new Set<string>()
    return {
      sample(time) {
        const answer = missing ?? program.answer()
        if (answer === undefined) return false
        const units = count.settle('', answer)
        each.settle('', answer)
        if (units === undefined) return false
        const now = units.slice(0, UNIT_LIMIT)
        context.dropped('unit_limit', units.length - now.length)
        context.source.report(hostSystemdType, { time, failed_units: units.length })
        for (const { unit, description } of now)
          context.source.report(hostFailedUnitType, { time, unit, failed: 1, description })
        const left = new Set(now.map(({ unit }) => unit))
        for (const unit of named)
          if (!left.has(unit)) context.absences.gone(hostFailedUnitType, { unit }, 'it has recovered')
        named = left
        return true
      },
      close: () => program.close(),
    }
  },
}

/** Parses the lines of `systemctl`: unit, load, active, sub, description. */
export function parseUnits(output: string): readonly FailedUnit[] | Missing {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const units = lines.map((line): FailedUnit | undefined => {
    const [, unit, description] = /^\s*(\S+)\s+\S+\s+failed\s+\S+\s*(.*)$/.exec(line) ?? []
    if (unit === undefined) return undefined
    return { unit: unit.slice(0, NAME_LIMIT), description: (description ?? '').slice(0, NAME_LIMIT) }
  })
  const known = units.filter((unit) => unit !== undefined)
  if (known.length === units.length) return known
  return new Missing(
    'failed',
    `systemctl printed a line that cannot be read: ${JSON.stringify(lines[units.indexOf(undefined)]?.slice(0, 80))}`,
  )
}
