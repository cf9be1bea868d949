/** What it means where records are dropped for a reason, as far as the reason does not say it alone. */
const CAUSES: Readonly<Record<string, string>> = {
  spool_full: 'the service was away, or slow, for longer than spoolBytes holds; await source.ready() to wait for it',
  too_large: 'larger than the spool, or than the service takes in one piece',
  labels_limit: 'labels of more than 8192 characters together, with those of the source; use shorter texts',
  type_limit: 'the service takes no more types, of one client or of all together',
  source_limit: 'the service takes no more sources from one client',
  symbol_limit: 'the service takes no more texts from one client',
  wrong_size: 'the bytes are not as many records as was said',
  foreign_type: 'a type that begins with sonde_ is of another version of Sonde',
  made_metric:
    'Sonde itself reports a metric of that name, of pods, apps or the hardware of the node; name it otherwise',
  not_stored: 'a durable sink of the service dropped them, and its own counters say why',
  duplicate_series:
    'another process reports the same series, and the service shows that; give one of the two another id, tag or label',
  series_limit: '/metrics of the service shows no more series of one client; use fewer label values. History has them',
  line_limit: '/metrics of the service shows no more lines of one client; use fewer label values. History has them',
  waiting_limit:
    'more new series at a time than /metrics of the service takes; report them more slowly. History has them',
  untranslated:
    'their times are not of the wall clock, and the service has no charts of them; files and /metrics have them. Translate the times before',
  metric_conflict:
    'another type has one of their metrics with another kind or unit; name it otherwise. The rest of the record is shown',
  closed: 'the sink was closed',
}

/** The cause of a reason in words; empty if none is known. */
export function ipcDropCause(reason: string): string {
  return (Object.hasOwn(CAUSES, reason) ? CAUSES[reason] : undefined) ?? ''
}
