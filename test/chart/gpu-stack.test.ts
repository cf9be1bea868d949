// What enabling GPU observability installs, read by the programs that get it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { needs, programPath } from '../debian.ts'
import { runSonde, temporaryDir } from '../sonde-process.ts'

test(
  'gpu-stack follows the parameters; promtool accepts its jobs, and sh its commands',
  needs('promtool'),
  async (t) => {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const flags = ['--data-dir', join(path, 'data')]
    const off = await runSonde(['manifests', 'gpu-stack', ...flags])
    assert.equal(off.code, 2)
    assert.match(
      off.output,
      /not enabled, so there is nothing to install; (npx )?sonde params set gpu_observability_enable=true/,
    )
    const set = ['gpu_observability_enable=true', 'nvidia_device_plugin_enable=true', 'dcgm_scrape_interval=30s']
    const versions = ['gpu_observability_chart_version=4.8.2', 'prometheus_gpu_metrics_retention=7d']
    assert.equal((await runSonde(['params', 'set', ...set, ...versions, ...flags])).code, 0)
    const { code, output } = await runSonde(['manifests', 'gpu-stack', ...flags, '--dir', join(path, 'stack')])
    assert.equal(code, 0, output)
    const read = (name: string) => readFileSync(join(path, 'stack', name), 'utf8')

    const { server, extraScrapeConfigs } = parse(read('prometheus.yaml'))
    assert.equal(server.retention, '7d')
    const jobs = parse(extraScrapeConfigs)
    assert.deepEqual(
      jobs.map((job: { job_name: string }) => job.job_name),
      ['dcgm-exporter', 'sonde'],
    )
    for (const job of jobs) {
      assert.deepEqual([job.honor_labels, job.scrape_interval], [true, '30s'], job.job_name)
      assert.deepEqual(job.kubernetes_sd_configs, [{ role: 'pod' }], job.job_name)
    }
    // Debian builds promtool without the discovery of Kubernetes: it checks the rest of each job, with a fixed target.
    const file = join(path, 'prometheus.yml')
    const checked = jobs.map(({ kubernetes_sd_configs: _, ...job }: Record<string, unknown>) => {
      return { ...job, static_configs: [{ targets: ['127.0.0.1:9394'] }] }
    })
    writeFileSync(file, JSON.stringify({ scrape_configs: checked }))
    execFileSync(programPath('promtool') ?? '', ['check', 'config', file])

    const exporter = parse(read('dcgm-exporter.yaml'))
    assert.deepEqual(exporter.arguments, ['-f', '/etc/dcgm-counters/counters.csv', '--collect-interval=30000'])
    const rows: string[] = parse(read('dcgm-counters.yaml')).data['counters.csv'].trim().split('\n')
    for (const row of rows) assert.match(row, /^DCGM_FI_\w+, (gauge|counter), [^,]+$/)
    for (const name of ['DEV_GPU_UTIL', 'DEV_FB_USED', 'DEV_POWER_USAGE', 'PROF_SM_ACTIVE', 'PROF_PIPE_FP16_ACTIVE'])
      assert.ok(
        rows.some((row) => row.startsWith(`DCGM_FI_${name},`)),
        name,
      )

    const install = read('install.sh')
    assert.match(install, /dcgm-exporter dcgm-exporter --repo \S+ \\\n {2}--version 4\.8\.2 -n kube-system \\\n/)
    assert.match(install, /prometheus-gpu-metrics prometheus --repo \S+ \\\n {2}--version 27\.9\.0 /)
    execFileSync('sh', ['-n', join(path, 'stack/install.sh')])
  },
)
