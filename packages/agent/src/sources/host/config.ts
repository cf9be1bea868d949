import { block, choice, list, pattern, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicePatterns } from '../device-filter.ts'

/** Parts of the host source; most of them read a single file of the kernel. */
export const HOST_PARTS = [
  'cpu',
  'memory',
  'pressure',
  'cgroup_pressure',
  'softnet',
  'load',
  'kernel',
  'vm',
  'disks',
  'network',
  'sockets',
  'filesystems',
  'machine',
  'clock',
  'systemd',
  'kernel_log',
  'numa',
  'sensors',
  'thermal_zones',
  'memory_errors',
  'cpu_packages',
] as const

/** Kinds of file systems of the kernel or of images: they have no space that could fill up. */
const NO_FILES = [
  ...['autofs', 'binfmt_misc', 'bpf', 'cgroup', 'cgroup2', 'configfs', 'debugfs', 'devpts', 'devtmpfs', 'efivarfs'],
  ...['erofs', 'fuse.lxcfs', 'fusectl', 'hugetlbfs', 'iso9660', 'mqueue', 'nsfs', 'overlay', 'proc', 'pstore'],
  ...['ramfs', 'resctrl', 'rpc_pipefs', 'securityfs', 'selinuxfs', 'squashfs', 'sysfs', 'tracefs'],
]

/** Options of the host source in `data_sources`. */
export const hostOptions = block({
  parts: setting(
    v.pipe(
      list(choice(HOST_PARTS), HOST_PARTS.length, 'parts'),
      v.minLength(1, 'at least one part; leave the key out for all'),
    ),
    [...HOST_PARTS],
    `What to read: any of ${HOST_PARTS.join(', ')}`,
  ),
  filesystems: setting(
    devicePatterns,
    NO_FILES.map((fstype) => `!${fstype}`),
    'Patterns of the kinds of file systems to read, as `devices` of other sources',
  ),
  root_folder: setting(
    pattern(/^\/[^\0]{0,1023}$/, 'an absolute path of at most 1024 characters'),
    '/',
    'Folder at which the root of the node is, for file systems and the name of the system; /host/root in a container',
  ),
  kernel_log: setting(
    pattern(/^\/[^\0]{0,1023}$/, 'an absolute path of at most 1024 characters'),
    '/dev/kmsg',
    'File with the messages of the kernel',
  ),
  systemctl: setting(
    pattern(/^[^\0]{1,1024}$/, 'a path or a name of at most 1024 characters'),
    'systemctl',
    'Program that lists the units of systemd; a name without a slash is searched in PATH',
  ),
  disks: setting(
    devicePatterns,
    ['!loop*', '!ram*', '!zram*', '!fd*'],
    'Patterns of the disks to read, as `devices` of other sources; partitions are never read',
  ),
})

/** Options of the host source after validation. */
export type HostSourceOptions = v.InferOutput<typeof hostOptions>
