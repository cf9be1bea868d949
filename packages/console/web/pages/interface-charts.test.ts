import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceColumns } from '../devices/interface-data.ts'
import { chooseInterfaces } from './interface-charts.ts'

function port(device: string, sent: number, speed = Number.NaN): InterfaceColumns {
  const none = Float64Array.of(0)
  return {
    device,
    simulated: false,
    columns: { sent: Float64Array.of(sent), speed: Float64Array.of(speed) },
    errors: none,
    drops: none,
  }
}

const names = (rows: readonly InterfaceColumns[]): readonly string[] => rows.map(({ device }) => device)

test('ports of one link rate that carry traffic are a herd; what is unlike them is left out and counted', () => {
  const ports = ['a', 'b', 'c', 'd'].map((name) => port(name, 10, 50e9))
  const { rows, common } = chooseInterfaces([...ports, port('idle', 0, 50e9), port('eth0', 5, 125e6), port('lo', 99)])
  assert.deepEqual(names(rows), ['a', 'b', 'c', 'd'])
  assert.equal(common.isAlike, true)
  assert.equal(common.caption, '4 of 7')
})

test('of unlike interfaces the busiest are shown, in their own order', () => {
  const many = Array.from({ length: 12 }, (_, i) => port(`eth${i}`, i + 1))
  const { rows, common } = chooseInterfaces(many)
  assert.deepEqual(names(rows), ['eth4', 'eth5', 'eth6', 'eth7', 'eth8', 'eth9', 'eth10', 'eth11'])
  assert.equal(common.isAlike, false)
})

test('where none carries traffic all are shown, with nothing to say about it', () => {
  const { rows, common } = chooseInterfaces([port('eth0', 0), port('lo', 0)])
  assert.deepEqual(names(rows), ['eth0', 'lo'])
  assert.equal(common.caption, '')
})
