import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AddressClass, addressClass } from './address-class.ts'

const ADDRESSES: Readonly<Record<AddressClass, readonly string[]>> = {
  public: ['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'],
  loopback: ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '2002:7f00:1::'],
  private: ['10.0.0.1', '172.31.255.255', '192.168.1.1', 'fd12::1', 'fec0::1', '::ffff:10.0.0.1', '64:ff9b::a00:1'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254', '64:ff9b:1::a9fe:a9fe', '168.63.129.16'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
  link_local: ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', '::ffff:169.254.7.7', '2002:a9fe:1::'],
  shared: ['100.64.0.1', '100.127.255.255', '::ffff:100.64.0.1'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', '::ffff:224.0.0.1'],
  reserved: ['255.255.255.255', '240.0.0.1', '192.0.2.1', '2001:0:1::', '2001:db8::1', '4000::1', 'localhost', '', '1'],
}

for (const [name, addresses] of Object.entries(ADDRESSES)) {
  describe(`${name}:`, () => {
    for (const address of addresses) test(JSON.stringify(address), () => assert.equal(addressClass(address), name))
  })
}
