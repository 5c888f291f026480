"""Cron expressions: what they mean (`parser`), when they are next due (`schedule`), and
where on earth that is (`location`).

The API server refuses what the parser refuses, and the controller of CronJobs starts a
Job whenever the schedule says so. Both read with the same parser, so what the one lets
in the other understands.

Upstream: `github.com/robfig/cron/v3` v3.0.1.
"""
