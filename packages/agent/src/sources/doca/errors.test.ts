import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RecordType } from '@sonde/sdk'
import { absenceType, messageOf } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble } from '../../../../../test/doubles/doca/doca-double.ts'
import { ERROR_NAMES } from '../../native/doca/layout.ts'
import { COMMON, TELEMETRY } from '../../native/doca/symbols.ts'
import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaAdpRetxTimeoutsType } from '../doca-telemetry-adp-retx/type.ts'
import { docaTelemetryDpa } from '../doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { docaDpaProcessType } from '../doca-telemetry-dpa/type.ts'
import { docaTelemetryPcc } from '../doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { docaPccType } from '../doca-telemetry-pcc/type.ts'
import { docaTelemetryPci } from '../doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaPciType } from '../doca-telemetry-pci/type.ts'
import { docaTelemetryPhy } from '../doca-telemetry-phy/doca-telemetry-phy.ts'
import { docaPhyType } from '../doca-telemetry-phy/type.ts'
import type { SourceDefinition } from '../source.ts'
import { TestedSource, TestNode } from '../test-node.ts'

const NEEDS = needs('cc')
/** Functions whose errors do not stop the reads. */
const HARMLESS = /destroy|_stop$|dev_close|pci_addr|iface_name|as_devinfo/
/** Has something to read for each source. */
const DEVICE = {
  algorithms: [{ slot: 0, counters: [['ecn', 1, 0]] }],
  processes: [{ id: 1, threads: [{ id: 1 }] }],
} as const
/** Functions that are called when a device is closed. */
const CLOSING = /_stop$|_destroy$|dev_close/

/** The errors that the functions of a domain document, or that a client treats differently. */
const CODES = [
  ...['UNKNOWN', 'NOT_PERMITTED', 'IN_USE', 'NOT_SUPPORTED', 'BAD_STATE', 'NOT_CONNECTED', 'NOT_FOUND'],
  ...['OPERATING_SYSTEM', 'DRIVER', 'DEVICE_FATAL_ERROR'],
]

interface Case {
  readonly definition: SourceDefinition
  /** Type with a record for each device that is read. */
  readonly type: RecordType
  readonly functions: readonly string[]
  /** Errors of these functions only cost a part of the values. */
  readonly partial?: RegExp
  /** Answers that are no failure. Default: none. */
  readonly silent?: (call: string, code: string) => boolean
  readonly codes: readonly string[]
}

const functionsOf = (domain: string) => Object.keys(TELEMETRY).filter((name) => name.includes(`_${domain}_`))

const CASES: readonly Case[] = [
  {
    definition: docaTelemetryAdpRetx,
    type: docaAdpRetxTimeoutsType,
    functions: [...Object.keys(COMMON), ...functionsOf('adp_retx')],
    codes: ERROR_NAMES.slice(1),
  },
  {
    definition: docaTelemetryPhy,
    type: docaPhyType,
    functions: functionsOf('phy'),
    partial: /_info/,
    codes: CODES,
  },
  {
    definition: docaTelemetryPci,
    type: docaPciType,
    functions: functionsOf('pci'),
    partial: /_cap_|_read_|_get_/,
    codes: CODES,
  },
  {
    definition: docaTelemetryPcc,
    type: docaPccType,
    functions: functionsOf('pcc'),
    // A slot may be empty, and an algorithm may stop at any time.
    silent: (call, code) => code === 'BAD_STATE' && /_get_(algo|num|count)/.test(call),
    codes: CODES,
  },
  {
    definition: docaTelemetryDpa,
    type: docaDpaProcessType,
    // The start of a counter, which outlives a removed device, has a test of its own.
    functions: functionsOf('dpa').filter((name) => !name.endsWith('_counter_start')),
    partial: /_get_counter_state/,
    // There may be no process, no thread and no started counter.
    silent: (call, code) => code === 'NOT_FOUND' && /_read_|_size$/.test(call),
    codes: CODES,
  },
]

function bringUp(t: TestContext, { definition, type: recorded }: Case) {
  const double = new DocaDouble(t)
  double.setElapsed(0n)
  const tested = new TestedSource(definition, { ...new TestNode(t).paths, doca_library: double.folder })
  t.after(() => tested.source.close())
  /** Reads once. Returns what was thrown or counted, and how many devices were read. */
  const sample = async () => {
    const whole = await tested.source.sample().then(
      () => [],
      (error: unknown) => [error],
    )
    const thrown = [...whole, ...tested.thrown].map(messageOf)
    const taken = tested.take()
    const reasons = taken.filter(({ type }) => type === absenceType).map(({ record }) => String(record.reason))
    const told = [...thrown, ...tested.failures.splice(0).map(({ message }) => message), ...reasons]
    const read = taken.filter(({ type }) => type.name === recorded.name).length
    return { told: told.join('\n'), read }
  }
  const left = () => ['lists', 'opens', 'contexts'].map((name) => double.total(name))
  return { double, tested, sample, left }
}

/** Effects of a failing function: the reported errors, and the reads during and after the failure. */
async function strike({ double, sample }: ReturnType<typeof bringUp>, call: string, code: string) {
  double.play({ mlx5_0: DEVICE }, CLOSING.test(call) ? [] : [`error ${call} DOCA_ERROR_${code}`])
  const failing = await sample()
  if (CLOSING.test(call)) double.play({}, [`error ${call} DOCA_ERROR_${code}`])
  const leaving = CLOSING.test(call) ? [await sample(), await sample()].map(({ told }) => told).join() : undefined
  double.play({ mlx5_0: DEVICE })
  await sample()
  const healed = await sample()
  double.play({})
  // The first sample finds the change, the next sample closes.
  for (let look = 0; look < 2; look++) await sample()
  return { failing, leaving, healed }
}

for (const given of CASES) {
  const { functions, codes, partial, silent } = given
  for (const call of functions) {
    test(`every error of ${call} is reported by its name, and ends`, NEEDS, async (t) => {
      const tested = bringUp(t, given)
      for (const code of codes) {
        const what = `${call} ${code}`
        const { failing, leaving, healed } = await strike(tested, call, code)
        const isTold = failing.told.includes(`${call} answers ${code}, `)
        if (silent?.(call, code)) continue
        if (HARMLESS.test(call)) assert.equal(failing.read, 1, what)
        else if (partial?.test(call)) assert.ok(isTold, failing.told)
        else assert.deepEqual([failing.read, isTold], [0, true], failing.told)
        if (leaving !== undefined && !call.endsWith('stop')) assert.ok(leaving.includes(what.replace(' ', ' answers ')))
        assert.deepEqual([healed.read, healed.told], [1, ''], what)
      }
      const [lists, ...others] = tested.left()
      assert.deepEqual(others, [0, 0], 'nothing is left')
      if (!call.endsWith('destroy_list')) assert.equal(lists, 0)
    })
  }
}
