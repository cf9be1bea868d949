import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../test/debian.ts'
import { NvmlDouble } from '../../../../test/doubles/nvml/nvml-double.ts'
import { TestNode } from '../sources/test-node.ts'
import type { CheckResult } from './check.ts'
import { testNvml } from './nvml/check-nvml.ts'
import { NVML_CHECKS, SMI_FIELDS } from './nvml/checks.ts'

const NEEDS = needs('cc')

/** The values of the double, as nvidia-smi prints them. */
const PRINTED: Readonly<Record<string, string>> = {
  name: 'Double H100',
  driver_version: '580.0',
  vbios_version: '96.00',
  'utilization.gpu': '99',
  'utilization.memory': '32',
  'utilization.encoder': '3',
  'utilization.decoder': '4',
  'temperature.gpu': '55',
  'temperature.memory': '50',
  'power.draw.average': '123.46',
  'power.draw.instant': '186.00',
  'enforced.power.limit': '700.00',
  'power.limit': '650.00',
  'power.default_limit': '700.00',
  'power.min_limit': '200.00',
  'power.max_limit': '700.00',
  'clocks.sm': '1380',
  'clocks.mem': '2619',
  'clocks.max.sm': '1980',
  'clocks.max.memory': '2619',
  pstate: 'P0',
  'clocks_event_reasons.active': '0x0000000000000004',
  'memory.total': '81559',
  'memory.reserved': '480',
  'memory.used': '1138',
  'memory.free': '79940',
  'pcie.link.gen.current': '5',
  'pcie.link.width.current': '16',
  'pcie.link.gen.max': '5',
  'pcie.link.width.max': '16',
  'mig.mode.current': 'Disabled',
  'ecc.errors.corrected.volatile.total': '3000',
  'ecc.errors.uncorrected.volatile.total': '4000',
  'ecc.errors.corrected.aggregate.total': '5000',
  'ecc.errors.uncorrected.aggregate.total': '6000',
}

/** What `nvidia-smi` prints: other values, and fields that it does not know. */
interface Smi {
  readonly values?: Readonly<Record<string, string>>
  readonly unknown?: readonly string[]
}

/** A program that answers `--query-gpu` as nvidia-smi does, in a folder of its own. */
function writeSmi(node: TestNode, { values = {}, unknown = [] }: Smi): string {
  const folder = join(node.root, 'bin')
  mkdirSync(folder)
  const known = Object.fromEntries(
    Object.entries({ ...PRINTED, ...values }).filter(([name]) => !unknown.includes(name)),
  )
  const program = `#!${process.execPath}
const known = ${JSON.stringify(known)}
const fields = process.argv[2].replace('--query-gpu=', '').split(',')
const wrong = fields.find((field) => field !== 'uuid' && !(field in known))
if (wrong !== undefined) {
  console.log('Field "' + wrong + '" is not a valid field to query.')
  process.exit(2)
}
for (const gpu of [1, 0])
  console.log(fields.map((field) => (field === 'uuid' ? 'GPU-0000000' + gpu + '-double' : known[field])).join(', '))
`
  writeFileSync(join(folder, 'nvidia-smi'), program)
  chmodSync(join(folder, 'nvidia-smi'), 0o755)
  return folder
}

/** Compares the double with the program. @returns Verdicts in words. */
async function checked(
  t: TestContext,
  { smi, play = {} }: { smi?: Smi; play?: Readonly<Record<string, number>> } = {},
) {
  const double = new NvmlDouble(t)
  double.play(play)
  const node = new TestNode(t)
  const { PATH } = process.env
  t.after(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = smi === undefined ? join(node.root, 'nothing') : writeSmi(node, smi)
  const results: CheckResult[] = []
  const nothing: string[] = []
  const paths = { ...node.paths, nvml_library: double.folder }
  const plan = { library: 'nvml', paths, acceptsTaint: false, pauseMs: 0, skipped: [], made: [] } as const
  await testNvml(plan, (message) => {
    if (message.kind === 'result') results.push(message.result)
    if (message.kind === 'nothing') nothing.push(message.reason)
  })
  const of = (check: string, device = 1) =>
    Object.values(results.find((one) => one.check === check && one.device === device)?.verdict ?? {}).join(': ')
  const failed = results.filter(({ verdict }) => verdict.state === 'failed')
  return { results, failed, nothing, of }
}

test('every field that nvidia-smi prints is compared, and the others say that it prints none', NEEDS, async (t) => {
  const { results, failed, of } = await checked(t, { smi: {} })
  assert.deepEqual(failed, [])
  for (const check of Object.keys(NVML_CHECKS)) assert.match(of(check, 2), /^passed: /, check)
  assert.deepEqual([of('nvml.power_usage'), of('nvml.fb_total')], ['passed: 123.456', 'passed: 81559'])
  assert.equal(of('nvml.total_energy_consumption'), 'not possible: nvidia-smi prints no such value of a GPU')
  assert.deepEqual(
    Object.keys(PRINTED).sort(),
    Object.values(SMI_FIELDS)
      .map(({ smi }) => smi)
      .sort(),
  )
  assert.ok(results.length > 100)
})

test('a wrong value, a missing value and a value too many fail', NEEDS, async (t) => {
  const values = { 'power.limit': '600.00', 'memory.total': '[N/A]', 'mig.mode.current': 'Enabled' }
  const { failed, of } = await checked(t, { smi: { values }, play: { 'gpu0.field82': -1 } })
  assert.equal(of('nvml.power_mgmt_limit'), 'failed: power.limit 600.00: 650')
  assert.equal(of('nvml.fb_total'), 'failed: memory.total without a value: NVML has 81559')
  assert.equal(of('nvml.memory_temp'), 'failed: temperature.memory 50: NVML has no value')
  assert.equal(of('nvml.mig_mode'), 'failed: mig.mode.current Enabled: 0')
  assert.equal(failed.length, 7)
})

test(
  'a value that moves is compared with those before and after, and a value that both lack passes',
  NEEDS,
  async (t) => {
    const values = { 'temperature.memory': '[N/A]', 'utilization.gpu': '75' }
    const { of } = await checked(t, { smi: { values }, play: { 'gpu0.field82': -1, 'gpu1.util': 10 } })
    assert.equal(of('nvml.memory_temp'), 'passed: neither has a value')
    assert.equal(of('nvml.gpu_util'), 'passed: 99')
    assert.equal(of('nvml.gpu_util', 2), 'failed: utilization.gpu 75: 10')
  },
)

test('fields that an old nvidia-smi does not know are left out, and the others are compared', NEEDS, async (t) => {
  const { failed, of } = await checked(t, { smi: { unknown: ['power.draw.instant', 'clocks_event_reasons.active'] } })
  assert.deepEqual(failed, [])
  assert.equal(of('nvml.power_usage_instant'), 'not possible: this nvidia-smi does not know power.draw.instant')
  assert.match(of('nvml.pstate'), /^passed/)
})

test('without nvidia-smi, without GPUs and without a driver the report says so', NEEDS, async (t) => {
  const without = await checked(t)
  assert.equal(without.of('nvml.gpu_util'), 'not possible: no nvidia-smi in PATH')
  assert.deepEqual((await checked(t, { smi: {}, play: { gpus: 0 } })).nothing, ['the driver lists no GPU that answers'])
  assert.match(String((await checked(t, { smi: {}, play: { driver: 0 } })).nothing), /the NVIDIA driver is not loaded/)
})
