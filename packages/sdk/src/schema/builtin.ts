import { counter, gauge, label, optional, text, timestamp, value } from './field.ts'
import { defineOwnType } from './record-type.ts'

/**
 * A device's ticks bracketed by two readings of the host clock: the offset is the middle, the error half the bracket.
 */
export const clockType = defineOwnType('sonde_clock', 'A device clock against the host clock', {
  time: timestamp(),
  device: label('Device whose clock was read'),
  device_ticks: value('u64', { help: 'Reading of the device clock' }),
  ticks_per_second: value('f64', { help: 'Frequency of the device clock' }),
  error_ns: value('u64', { help: 'Half the time between the two readings of the host clock' }),
})

/** A stretch without samples that the source knows of. */
export const gapType = defineOwnType('sonde_gap', 'A stretch without samples', {
  time: timestamp(),
  type: label('Type whose records are missing'),
  series: label('Labels of the series, empty for all of the source'),
  from_ns: value('u64', { help: 'First nanosecond that is missing' }),
  to_ns: value('u64', { help: 'First nanosecond that is there again' }),
  records: value('u64', { help: 'Records missing, 0 where it is not known' }),
  reason: text({ help: 'Why they are missing' }),
})

/** The start or end of an event. */
export const markType = defineOwnType('sonde_mark', 'Start or end of an event', {
  time: timestamp(),
  event: label('Id of the event'),
  rule: label('Rule that opened it'),
  edge: text({ help: 'start or end' }),
})

/** Records that were dropped, by whom and why. */
export const lossType = defineOwnType('sonde_loss', 'Records dropped, by component and reason', {
  time: timestamp(),
  component: label('Who dropped them'),
  reason: label('Why'),
  records_total: counter('u64', { help: 'Records dropped' }),
})

/**
 * Why a value is absent: state, not a sample. `series` is the text of {@link seriesKey}, empty for every series of the
 * type; `field` is empty for the whole series. Code `gone` takes the series out of every view; an empty code says that
 * the value is back.
 */
export const absenceType = defineOwnType('sonde_absence', 'Why a value is absent', {
  time: timestamp(),
  type: label('Type of the record'),
  series: label('Labels of the series'),
  field: label('Field, empty for all'),
  code: text({ help: 'gone, unsupported, denied, failed, not_sampled' }),
  reason: text({ help: 'A sentence for people' }),
})

/** How a source fares; one row a source. */
export const sourceHealthType = defineOwnType('sonde_source', 'How a source fares', {
  time: timestamp(),
  source: label('Name of the source'),
  up: gauge('u64', { help: '1 while the source reads' }),
  records_total: counter('u64', { help: 'Records it reported' }),
  samples_total: counter('u64', { help: 'Samples taken' }),
  errors_total: counter('u64', { help: 'Reads of present hardware that failed' }),
  overruns_total: counter('u64', { help: 'Samples skipped because the one before was not done' }),
  restarts_total: counter('u64', { help: 'Times its process was replaced' }),
  dropped_total: counter('u64', { help: 'Records dropped before they reached a sink' }),
  sample_seconds_total: counter('f64', { unit: 'seconds', help: 'Time spent sampling' }),
})

/** How a sink fares; one row a sink. */
export const sinkHealthType = defineOwnType('sonde_sink', 'How a sink fares', {
  time: timestamp(),
  sink: label('Name of the sink'),
  up: optional(
    gauge('u64', { help: '1 while what it does goes well, 0 while it fails; absent where it does not say' }),
  ),
  in_total: counter('u64', { help: 'Records it was given' }),
  out_total: counter('u64', { help: 'Records it passed on or made visible' }),
  dropped_total: counter('u64', { help: 'Records it dropped' }),
  duplicates_total: counter('u64', { help: 'Records of pages that it had already; a part of out' }),
  errors_total: counter('u64', { help: 'Times it failed' }),
  accept_seconds_total: counter('f64', { unit: 'seconds', help: 'Time spent taking records' }),
})

/** How the store fares. */
export const storeHealthType = defineOwnType('sonde_store', 'How the store of history fares', {
  time: timestamp(),
  up: gauge('u64', { help: '1 while it writes, 0 while it fails' }),
  size_bytes: gauge('u64', { unit: 'bytes', help: 'Size on disk' }),
  queued_bytes: gauge('u64', { unit: 'bytes', help: 'Records that wait for the disk' }),
  backlog_bytes: gauge('u64', { unit: 'bytes', help: 'Records on disk that are not yet compacted' }),
  acked_lag_seconds: optional(gauge('f64', { unit: 'seconds', help: 'Age of the newest sample that is safe on disk' })),
  errors_total: counter('u64', { help: 'Writes and reads of the file that failed' }),
  corrupt_chunks_total: counter('u64', { help: 'Stored pieces that could not be read' }),
})
