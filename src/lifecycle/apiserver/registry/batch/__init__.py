"""`batch`: work that ends.

Upstream: `pkg/registry/batch`, `pkg/apis/batch`, v1.36.
"""

from lifecycle.apiserver.registry.batch.cron_job import strategy as cron_job
from lifecycle.apiserver.registry.batch.job import strategy as job

STRATEGIES = {
    ("batch/v1", "Job"): job.STRATEGY,
    ("batch/v1", "CronJob"): cron_job.STRATEGY,
}
