import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WantedDevices } from './wanted-devices.ts'

const DEVICES = [
  { name: 'mlx5_0', pciAddress: '0000:3a:00.0', netdev: 'ens1' },
  { name: 'mlx5_1', pciAddress: '0000:3a:00.1', netdev: '' },
]
const LISTED = { devices: DEVICES, planes: new Map([['smi1', 'mlx5_1']]) }

const read = (...patterns: string[]) => new WantedDevices(patterns).of(LISTED).map(({ name }) => name)

test('any name of a device selects it, and any name excludes it', () => {
  assert.deepEqual(read(), ['mlx5_0', 'mlx5_1'])
  for (const name of ['mlx5_0', 'ens1', '0000:3a:00.0', '3a:00.0', '3A:00.0', '00000000:3A:00.0', '3a:*.0', 'ens*'])
    assert.deepEqual(read(name), ['mlx5_0'], name)
  for (const name of ['!mlx5_0', '!ens1', '!0000:3a:00.0', '!3A:00.0']) assert.deepEqual(read(name), ['mlx5_1'], name)
  assert.deepEqual(read('mlx5_*', '!ens*'), ['mlx5_1'])
})

test('a name that no device has is reported with the reason, and again when a device has it; patterns are not', () => {
  const wanted = new WantedDevices(['mlx5_0', 'mlx5_9', 'eth*', '!mlx5_8'])
  const told: [string, string | undefined][] = []
  assert.equal(new WantedDevices(['3A:00.1']).found(LISTED), 'mlx5_1')
  const tell = (name: string, reason: string | undefined) => told.push([name, reason])
  const reason = 'no device is called mlx5_9; there are: mlx5_0 = 0000:3a:00.0 = ens1, mlx5_1 = 0000:3a:00.1'
  assert.equal(wanted.found(LISTED), `mlx5_0; ${reason}`)
  wanted.reportMissing(LISTED, tell)
  const back = { ...LISTED, devices: [...DEVICES, { name: 'mlx5_9', pciAddress: '0000:3b:00.0', netdev: '' }] }
  wanted.reportMissing(back, tell)
  wanted.reportMissing(back, tell)
  assert.deepEqual(told, [
    ['mlx5_9', reason],
    ['mlx5_9', undefined],
  ])
})

test('the name of a plane has its own reason, which says what to name instead', () => {
  const wanted = new WantedDevices(['smi1', 'mlx5_9'])
  const told = new Map<string, string | undefined>()
  wanted.reportMissing(LISTED, (name, reason) => told.set(name, reason))
  const reason =
    'smi1 is a plane of the port of mlx5_1, whose counters are those of the whole port: name mlx5_1 instead'
  assert.equal(told.get('smi1'), reason)
  assert.match(told.get('mlx5_9') ?? '', /^no device is called mlx5_9; there are: mlx5_0/)
  assert.equal(new WantedDevices(['smi1']).none(LISTED), reason)
  assert.ok(wanted.none(LISTED).startsWith(`${reason}; no device is called mlx5_9; there are: `))
})
