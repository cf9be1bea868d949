import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pciAddressOf } from '@sonde/sdk/internal'
import { deviceFilter } from './device-filter.ts'
import { deviceName, devicePattern } from './pci-address.ts'

test('an address is the same however it is spelled', () => {
  for (const text of ['3a:00.1', '3A:00.1', '0000:3a:00.1', '00000000:3A:00.1'])
    assert.equal(pciAddressOf(text), '0000:3a:00.1', text)
  assert.equal(pciAddressOf('10000:E1:1F.7'), '10000:e1:1f.7')
  for (const text of ['', 'eth0', 'eth0:1', '3a:00', '3a:20.0', '3a:00.8', 'x3a:00.1', '3a:00.1 ', 'mlx5_0'])
    assert.equal(pciAddressOf(text), undefined, text)
})

test('other names and patterns stay as they are', () => {
  for (const name of ['mlx5_0', 'ibr10:30', 'Ethernet0', 'nvme0n1']) assert.equal(deviceName(name), name)
  for (const name of ['*', '!veth*', 'mlx5_*', 'eth?', 'eth0:1']) assert.equal(devicePattern(name), name)
})

test('patterns of devices take any spelling of an address, and so do the names', () => {
  const names = ['0000:3a:00.0', '0000:3a:00.1', '0001:3a:00.0', 'mlx5_0']
  const kept = (...patterns: string[]) => names.filter(deviceFilter(patterns))
  assert.deepEqual(kept('3A:00.0'), ['0000:3a:00.0'])
  assert.deepEqual(kept('3A:00.*'), ['0000:3a:00.0', '0000:3a:00.1'])
  assert.deepEqual(kept('*:3A:00.0'), ['0000:3a:00.0', '0001:3a:00.0'])
  assert.deepEqual(kept('!3a:00.?', '!mlx5_*'), ['0001:3a:00.0'])
  assert.ok(deviceFilter(['0000:9b:00.0'])('00000000:9B:00.0'))
})
