import assert from 'node:assert/strict'
import { test } from 'node:test'
import { railLayout } from './rails.ts'
import { testGpu, testNic } from './test-devices.ts'

const idsOf = (devices: readonly { readonly id: string }[]): string[] => devices.map(({ id }) => id)

test('GPU and NIC of a rail stand in one column, in the order of the rails', () => {
  const devices = [testNic(1), testGpu(10), testGpu(1), testNic(10), testNic(0), testGpu(0)]
  const { blocks, gpus, nics } = railLayout(devices)
  assert.deepEqual(
    blocks[0]?.rails.map(({ gpu, nics }) => `${gpu.id} ${idsOf(nics).join(' ')}`),
    ['gpu-0 nic-mlx5_0-1', 'gpu-1 nic-mlx5_1-1', 'gpu-10 nic-mlx5_10-1'],
  )
  assert.deepEqual([gpus, nics], [[], []])
})

test('more than eight rails wrap in rows of eight', () => {
  const numbers = Array.from({ length: 11 }, (_, number) => number)
  const { blocks } = railLayout(numbers.flatMap((number) => [testGpu(number), testNic(number)]))
  assert.deepEqual(
    blocks.map(({ rails }) => rails.length),
    [8, 3],
  )
})

test('a NIC in no rail stands apart and does not undo the columns', () => {
  const storage = testNic(0, { id: 'nic-mlx5_bond_0-1', name: 'mlx5_bond_0', rail: null })
  const { blocks, nics } = railLayout([testGpu(0), testNic(0), storage])
  assert.equal(blocks[0]?.rails.length, 1)
  assert.deepEqual(idsOf(nics), ['nic-mlx5_bond_0-1'])
})

test('a second NIC on the switch of a GPU stands below the first, and the other columns stay', () => {
  const storage = testNic(8, { rail: 0, switch: 'a' })
  const { blocks, nics } = railLayout([testGpu(0, { switch: 'a' }), testGpu(1), testNic(0), testNic(1), storage])
  assert.deepEqual(
    blocks[0]?.rails.map((rail) => [rail.switch, ...idsOf(rail.nics)]),
    [
      ['a', 'nic-mlx5_0-1', 'nic-mlx5_8-1'],
      [undefined, 'nic-mlx5_1-1'],
    ],
  )
  assert.deepEqual(nics, [])
})

test('unequal numbers, unknown places and doubled rails make two plain rows', () => {
  const plain = (devices: Parameters<typeof railLayout>[0]): number[] => {
    const { blocks, gpus, nics } = railLayout(devices)
    assert.deepEqual(blocks, [])
    return [gpus.length, nics.length]
  }
  assert.deepEqual(plain([testGpu(0), testGpu(1), testNic(0)]), [2, 1])
  assert.deepEqual(plain([testGpu(0, { rail: null }), testNic(0)]), [1, 1])
  assert.deepEqual(plain([testGpu(0), testGpu(1, { rail: 0 }), testNic(0), testNic(1)]), [2, 2])
  assert.deepEqual(plain([testNic(0)]), [0, 1])
  const storage = testNic(9, { id: 'storage', name: 'mlx5_bond_0', rail: null })
  assert.deepEqual(idsOf(railLayout([storage, testNic(1), testNic(0)]).nics), [
    'nic-mlx5_0-1',
    'nic-mlx5_1-1',
    'storage',
  ])
  assert.deepEqual(plain([]), [0, 0])
})

test('neighbours on one switch are one span, and a switch that only one of the two is on is none', () => {
  const on = (number: number, port: string) => [testGpu(number, { switch: port }), testNic(number, { switch: port })]
  const { blocks } = railLayout([
    ...on(0, 'a'),
    ...on(1, 'a'),
    ...on(2, 'b'),
    testGpu(3, { switch: 'b' }),
    testNic(3, { switch: 'c' }),
    ...on(4, 'b'),
  ])
  assert.deepEqual(blocks[0]?.spans, [
    { switch: 'a', first: 0, last: 1 },
    { switch: 'b', first: 2, last: 2 },
    { switch: 'b', first: 4, last: 4 },
  ])
})
