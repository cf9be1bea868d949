import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The kind of network that an address belongs to. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'metadata'
  | 'unspecified'
  | 'link_local'
  | 'shared'
  | 'multicast'
  | 'reserved'

/** Networks by class. The first class with an address holds, so that metadata services come before their networks. */
const NETWORKS: readonly (readonly [AddressClass, ...(readonly string[])])[] = [
  // Services that give credentials of the machine to any program on it: EC2, ECS, GCP, Azure, Alibaba, Oracle.
  ['metadata', '169.254.169.254/32', '169.254.170.2/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
  ['metadata', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  ['link_local', '169.254.0.0/16', 'fe80::/10'],
  // Carrier-grade NAT: the inner network of a provider, or of a cluster.
  ['shared', '100.64.0.0/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['reserved', '240.0.0.0/4', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ['reserved', '203.0.113.0/24', '2001::/23', '2001:db8::/32', '3fff::/20'],
  ['public', '0.0.0.0/0', '2000::/3'],
]

/** IPv6 networks whose addresses carry an IPv4 address, with the index of the 16-bit group that it starts at. */
const CARRIERS: readonly (readonly [network: string, group: number])[] = [
  ['::ffff:0:0/96', 6],
  ['::ffff:0:0:0/96', 6],
  ['64:ff9b::/96', 6],
  ['64:ff9b:1::/48', 6],
  ['2002::/16', 1],
  // The deprecated form `::1.2.3.4`; `::` and `::1` look alike.
  ['::/96', 6],
]

const LISTS = NETWORKS.map(([name, ...networks]) => [name, listOf(networks)] as const)
const CARRYING = CARRIERS.map(([network, group]) => [listOf([network]), group] as const)

/** The class of an IP address; `reserved` for a text that is no address, so that no spelling passes by mistake. */
export function addressClass(address: string): AddressClass {
  const [plain = ''] = address.split('%', 1)
  if (isIPv4(plain)) return classIn(plain, 'ipv4')
  if (!isIPv6(plain)) return 'reserved'
  const groups = groupsOf(plain)
  if (groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1) return classIn(plain, 'ipv6')
  const first = CARRYING.find(([list]) => list.check(plain, 'ipv6'))?.[1]
  return first === undefined ? classIn(plain, 'ipv6') : classIn(carried(groups, first), 'ipv4')
}

function classIn(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  return LISTS.find(([, list]) => list.check(address, family))?.[0] ?? 'reserved'
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The eight 16-bit groups of an IPv6 address, which `URL` spells without a dotted end. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  if (tail === undefined) return numbers(head)
  const [before, after] = [numbers(head), numbers(tail)]
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function carried(groups: readonly number[], first: number): string {
  const [high = 0, low = 0] = groups.slice(first, first + 2)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
