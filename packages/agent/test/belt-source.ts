import {
  type Absences,
  counter,
  defineType,
  gauge,
  label,
  labelNumber,
  optional,
  text,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import * as v from 'valibot'
import { sampled } from '../src/sources/sampled.ts'
import type { DeviceReport, SourceDefinition } from '../src/sources/source.ts'

// Entities that nobody has code for: conveyor belts, and the robots that load them.

/** What a belt is: this type alone makes belts appear wherever devices do. */
const beltInfoType = defineType(
  'belt_info',
  'Identity of a conveyor belt',
  {
    time: timestamp(),
    belt: label('Name of the belt'),
    interface: text({ help: 'Network interface of its motor' }),
    robots: text({ help: 'Robots that load it, with a blank between' }),
    top_speed: gauge('f64', { help: 'Metres a second at most' }),
  },
  {
    entity: {
      kind: 'conveyor_belt',
      key: ['belt'],
      defines: true,
      facts: ['top_speed'],
      joins: [{ by: 'netdev', field: 'interface' }],
      relations: [{ kind: 'robot', key: ['robots'], isList: true }],
    },
  },
)

/** How the rollers of a belt run. */
const rollerType = defineType(
  'belt_roller',
  'One roller of a conveyor belt',
  {
    time: timestamp(),
    belt: label('Name of the belt'),
    roller: labelNumber('u8', 'Roller, from 0'),
    turns_total: counter('u64', { help: 'Turns of the roller' }),
    celsius: optional(gauge('f64', { unit: 'celsius', help: 'Temperature of its bearing' })),
  },
  { entity: { kind: 'conveyor_belt', key: ['belt'] } },
)

/** A robot, known by two labels. */
const robotType = defineType(
  'robot',
  'A robot',
  { time: timestamp(), robot: label('Name of the robot'), arm: label('Its arm'), loads_total: counter('u64') },
  { entity: { kind: 'robot', key: ['robot', 'arm'], defines: true } },
)

/** What a test changes of the belts while they are read. */
export interface Belts {
  /** Belts that are there. */
  readonly running: Set<string>
  readonly definition: SourceDefinition
  /** Reports what there is once, as an application would. */
  report(source: DeviceReport, absences: Absences): void
}

/** A source of two belts, `north` on the interface `lo` and `south`, and a robot with two arms. */
export function belts(): Belts {
  const running = new Set(['north', 'south'])
  const known = new Set<string>()
  const report = (source: DeviceReport, absences: Absences) => sampleBelts({ source, absences, running, known })
  const definition: SourceDefinition = {
    name: 'belts',
    summary: 'Reads the belts of a hall',
    types: [beltInfoType, rollerType, robotType],
    host: 'agent',
    intervalMs: 50,
    options: v.strictObject({}),
    load: async () => ({
      create: (_options, context) =>
        sampled(
          {
            probe: () => ({ state: 'present', found: `${running.size} belts` }),
            sample: () => report(context.source, context.absences),
            close: () => undefined,
          },
          context,
        ),
    }),
  }
  return { running, definition, report }
}

function sampleBelts({
  source,
  absences,
  running,
  known,
}: {
  readonly source: DeviceReport
  readonly absences: Absences
  readonly running: ReadonlySet<string>
  readonly known: Set<string>
}): void {
  const time = wallNs()
  const turns = time / 1_000_000_000n
  for (const belt of running) {
    known.add(belt)
    const isNorth = belt === 'north'
    const facts = { interface: isNorth ? 'lo' : '', robots: isNorth ? 'walter' : 'walter nobody', top_speed: 2.5 }
    source.report(beltInfoType, { time, belt, ...facts })
    for (const roller of [0, 1, 2])
      source.report(rollerType, {
        time,
        belt,
        roller,
        turns_total: turns * BigInt(roller + 1),
        celsius: 40 + roller + Math.sin(Number(turns) / 20),
      })
  }
  for (const arm of ['left', 'right']) source.report(robotType, { time, robot: 'walter', arm, loads_total: turns })
  for (const belt of known) {
    if (running.has(belt)) continue
    known.delete(belt)
    absences.gone(beltInfoType, { belt }, 'its hall is closed')
    for (const roller of ['0', '1', '2']) absences.gone(rollerType, { belt, roller }, 'its hall is closed')
  }
}
