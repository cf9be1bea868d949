import { createFiles, type Sink } from '@sonde/sdk'
import { block, choice, flag, integer, setting, text } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Schema of `export.files`. */
export const filesSchema = block({
  enabled: setting(
    flag(),
    false,
    'Whether all records are kept in files, one at a time for each source; see [DTB](dtb.md)',
  ),
  data_root: v.optional(
    v.pipe(
      text(),
      v.description(
        'Folder of the files. Default: `/opt/mellanox/doca/services/telemetry/data` where it is writable, else `sonde/data` in `$XDG_STATE_HOME` or `~/.local/state`',
      ),
    ),
  ),
  max_size_bytes: setting(integer(4096, 2 ** 40, 'bytes'), 1 << 20, 'Size of a file; then the next one begins'),
  max_age_us: setting(
    integer(1_000_000, 31_536_000_000_000, 'microseconds'),
    3_600_000_000,
    'Age of a file; then the next one begins',
  ),
  durability: setting(
    choice(['none', 'interval', 'block']),
    'interval',
    'What acknowledged records survive: `none` and `interval` a crash of the process, the disk having what is older than a second with `interval`; `block` power loss too, as every write waits for the disk',
  ),
  retention_bytes: setting(
    integer(0, 2 ** 50, 'bytes, 0 is no limit'),
    8 * 2 ** 30,
    'Size of all files below the folder; beyond, the oldest closed ones are removed',
  ),
  retention_days: setting(integer(0, 36_500, 'days, 0 is no limit'), 7, 'How long closed files are kept'),
})

/** The sink of `export.files`; none where it is not enabled. */
export function filesOf(config: v.InferOutput<typeof filesSchema>, version: string): readonly Sink[] {
  if (!config.enabled) return []
  return [
    createFiles({
      dataRoot: config.data_root,
      maxBytes: config.max_size_bytes,
      maxAgeUs: config.max_age_us,
      durability: config.durability,
      retentionBytes: config.retention_bytes,
      retentionDays: config.retention_days,
      schema: 'sonde',
      version,
    }),
  ]
}
