import { test } from 'node:test'
import { testSource } from '../conformance.ts'
import { pci } from './pci.ts'
import { pciDeviceType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const PAIR = fixture('switch-pair')
const SWITCH = 'sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0'
const GPU = `${SWITCH}/0000:99:00.0/0000:9a:00.0`

testSource(pci, {
  tree: PAIR,
  counter: {
    type: pciDeviceType,
    field: 'aer_correctable_total',
    labels: { device: '0000:9a:00.0' },
    write: (node, value) =>
      node.write(
        `${GPU}/aer_dev_correctable`,
        node.read(`${GPU}/aer_dev_correctable`).replace(/(TOTAL_ERR_COR) \d+/, `$1 ${value}`),
      ),
  },
  series: { type: pciDeviceType, labels: { device: '0000:9a:00.0' }, leave: (node) => node.remove(GPU) },
})
