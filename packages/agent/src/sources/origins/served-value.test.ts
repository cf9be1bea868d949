import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, gauge, type Labels, type RecordType, timestamp } from '@sonde/sdk'
import { Missing } from '../field-absences.ts'
import { type OriginName, originLabel } from './metric-origins.ts'
import { type ChosenOrigins, ServedValue } from './served-value.ts'

const type = defineType('served', 'A value with an origin', {
  time: timestamp(),
  origin: originLabel('doca_pci_link_bandwidth_bytes_per_second'),
  value: gauge('u64', { help: 'Value' }),
})
const BROKEN = new Missing('failed', 'EIO')
const LOST = new Missing('unsupported', 'the file is not there')

/** A value with both origins, whose answers a test sets. */
function bringUp(chosen: ChosenOrigins = new Map()) {
  const answers: Partial<Record<OriginName, number | Missing>> = {}
  const told: string[] = []
  const tell = (code: string, { origin }: Labels, reason: string) => told.push(`${code} ${origin} ${reason}`.trim())
  const absences = {
    set: (_: RecordType, labels: Labels, _field: string, code: string, reason: string) => tell(code, labels, reason),
    clear: (_: RecordType, labels: Labels) => tell('clear', labels, ''),
    gone: (_: RecordType, labels: Labels, reason: string) => tell('gone', labels, reason),
  }
  const offers = (['doca_pci', 'pci_files'] as const).map((origin) => ({ origin, read: () => answers[origin] ?? LOST }))
  const series = { metric: 'doca_pci_link_bandwidth_bytes_per_second', type, labels: { device: 'mlx5_0' } } as const
  const served = new ServedValue(series, offers, absences as never, chosen)
  return { answers, told, served, chosen }
}

test('the preferred origin serves, also if another has the value first', async () => {
  const { answers, served } = bringUp()
  Object.assign(answers, { doca_pci: 1, pci_files: 2 })
  assert.deepEqual(await served.read(), { origin: 'pci_files', value: 2 })
})

test('a failed read keeps the origin; a lost value ends the series with its reason', async () => {
  const { answers, served, told } = bringUp()
  Object.assign(answers, { doca_pci: 1, pci_files: 2 })
  await served.read()
  answers.pci_files = BROKEN
  for (let read = 0; read < 10; read++) assert.equal(await served.read(), undefined)
  assert.equal(served.origin, 'pci_files')
  answers.pci_files = LOST
  assert.deepEqual(await served.read(), { origin: 'doca_pci', value: 1 })
  assert.deepEqual(told.slice(-2), [
    'gone pci_files pci_files no longer has it (the file is not there), so doca_pci serves it',
    'clear doca_pci',
  ])
})

test('the origin stays when a preferred origin appears, also if the device is opened again', async () => {
  const { answers, served, chosen } = bringUp()
  answers.doca_pci = 1
  assert.equal((await served.read())?.origin, 'doca_pci')
  const again = bringUp(chosen)
  Object.assign(again.answers, { doca_pci: 3, pci_files: 2 })
  assert.deepEqual(await again.served.read(), { origin: 'doca_pci', value: 3 })
})

test('a preferred origin that fails is tried three times before another is chosen', async () => {
  const { answers, served } = bringUp()
  Object.assign(answers, { doca_pci: 1, pci_files: BROKEN })
  assert.deepEqual([await served.read(), await served.read()], [undefined, undefined])
  assert.equal((await served.read())?.origin, 'doca_pci')
})
