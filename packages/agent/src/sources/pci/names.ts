/** Kinds of PCI devices: what the class code says, and for a few the vendor. */
export const PCI_CLASSES = [
  'gpu',
  'accelerator',
  'network',
  'infiniband',
  'dpu',
  'nvme',
  'bridge',
  'storage',
  'display',
  'multimedia',
  'memory',
  'communication',
  'system',
  'input',
  'processor',
  'serial',
  'other',
] as const

/** One of {@link PCI_CLASSES}. */
export type PciClass = (typeof PCI_CLASSES)[number]

const AMD = '1002'
const NVIDIA = '10de'
const INTEL = '8086'
const MELLANOX = '15b3'

/** Base class of a class code, where no other rule says more. */
const BASE_CLASSES: ReadonlyMap<number, PciClass> = new Map([
  [0x01, 'storage'],
  [0x02, 'network'],
  [0x03, 'display'],
  [0x04, 'multimedia'],
  [0x05, 'memory'],
  [0x06, 'bridge'],
  [0x07, 'communication'],
  [0x08, 'system'],
  [0x09, 'input'],
  [0x0b, 'processor'],
  [0x0c, 'serial'],
  [0x12, 'accelerator'],
])

const NVME = 0x0108
const INFINIBAND = 0x0207
/** Vendors whose display controllers compute; all others, such as that of a management controller, only show text. */
const GPU_VENDORS: ReadonlySet<string> = new Set([AMD, NVIDIA, INTEL])
const BLUEFIELDS: ReadonlySet<string> = new Set(['a2d2', 'a2d6', 'a2dc', 'a2df'])

/**
 * The kind of a device from its class code, vendor and product. The class code is that of the file `class`: base class,
 * subclass and interface, a byte each.
 */
export function classOf(code: number, vendorId: string, productId: string): PciClass {
  const base = code >> 16
  const subclass = code >> 8
  if (subclass === NVME) return 'nvme'
  if (base === 0x02 && vendorId === MELLANOX && BLUEFIELDS.has(productId)) return 'dpu'
  if (subclass === INFINIBAND) return 'infiniband'
  if (base === 0x03 && GPU_VENDORS.has(vendorId)) return 'gpu'
  // The accelerators of AMD since the MI300 are no display controllers any more.
  if (base === 0x12 && vendorId === AMD) return 'gpu'
  return BASE_CLASSES.get(base) ?? 'other'
}

const VENDORS: ReadonlyMap<string, string> = new Map([
  [AMD, 'AMD'],
  ['1000', 'Broadcom LSI'],
  ['1022', 'AMD'],
  [NVIDIA, 'NVIDIA'],
  ['10b5', 'PLX'],
  ['1344', 'Micron'],
  ['144d', 'Samsung'],
  ['14e4', 'Broadcom'],
  [MELLANOX, 'Mellanox'],
  ['177d', 'Marvell'],
  ['1af4', 'Red Hat virtio'],
  ['1c5c', 'SK hynix'],
  ['1d0f', 'Amazon'],
  ['1da3', 'Habana'],
  ['1dd8', 'AMD Pensando'],
  ['1e0f', 'Kioxia'],
  [INTEL, 'Intel'],
  ['c0a9', 'Micron'],
])

/** Name of a vendor; its id where none is known. */
export function vendorName(vendorId: string): string {
  return VENDORS.get(vendorId) ?? vendorId
}

/**
 * Products that nodes of this kind have, by vendor and product id; NVML and the drivers know better names where they
 * are there.
 */
const MODELS: ReadonlyMap<string, string> = new Map([
  ['1002:74a1', 'Instinct MI300X'],
  ['10de:20b0', 'A100 SXM 40 GB'],
  ['10de:20b2', 'A100 SXM 80 GB'],
  ['10de:2330', 'H100 SXM 80 GB'],
  ['10de:2331', 'H100 PCIe'],
  ['10de:2335', 'H200 SXM 141 GB'],
  ['10de:26b9', 'L40S'],
  ['10de:2901', 'B200'],
  ['15b3:1013', 'ConnectX-4'],
  ['15b3:1015', 'ConnectX-4 Lx'],
  ['15b3:1017', 'ConnectX-5'],
  ['15b3:1019', 'ConnectX-5 Ex'],
  ['15b3:101b', 'ConnectX-6'],
  ['15b3:101d', 'ConnectX-6 Dx'],
  ['15b3:101e', 'ConnectX virtual function'],
  ['15b3:101f', 'ConnectX-6 Lx'],
  ['15b3:1021', 'ConnectX-7'],
  ['15b3:1023', 'ConnectX-8'],
  ['15b3:a2d2', 'BlueField'],
  ['15b3:a2d6', 'BlueField-2'],
  ['15b3:a2dc', 'BlueField-3'],
  ['15b3:a2df', 'BlueField-4'],
  ['1af4:1000', 'virtio network'],
  ['1af4:1041', 'virtio network'],
])

/** Name of a product, empty if none is known. */
export function modelName(vendorId: string, productId: string): string {
  return MODELS.get(`${vendorId}:${productId}`) ?? ''
}
